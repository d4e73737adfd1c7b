// A plain connection against a socket of Node's at its other end.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { acceptHandles } from '../../../../src/proxy/socket/accepting.ts';
import { currentRead } from '../../../../src/proxy/socket/read-clock.ts';
import type { TcpHandle } from '../../../../src/proxy/socket/stream-handle.ts';
import { TcpSocket } from '../../../../src/proxy/socket/tcp-socket.ts';
import { eventually } from '../../../support/eventually.ts';
import { listening } from '../../../support/proxy-bed.ts';

describe('a plain connection', () => {
  let server: Server;
  let wire: TcpSocket;
  let peer: Socket;
  let told: string[];
  let came: string;

  const open = async (halfOpen: boolean): Promise<void> => {
    server = createServer();
    const port = await listening(server);
    const accepted = new Promise<TcpSocket>((resolve) =>
      acceptHandles(server, (handle) => resolve(new TcpSocket(handle, { halfOpen }))),
    );
    peer = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
    wire = await accepted;
    told = [];
    came = '';
    for (const event of ['end', 'close', 'drain'] as const) wire.on(event, () => told.push(event));
    wire.on('error', ({ code }) => told.push(code ?? 'error'));
    wire.receiver = {
      onBytes: (bytes, length) => {
        came += bytes.toString('latin1', 0, length);
      },
    };
    wire.resume();
  };
  const all = async (socket: Socket): Promise<string> => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    socket.resume();
    await once(socket, 'end');
    return text;
  };
  beforeEach(() => open(true));
  afterEach(async () => {
    wire.destroy();
    peer.destroy();
    server.close();
    await eventually(() => expect(wire.closed).to.equal(true));
  });

  it('has a remote address', () => {
    expect(wire.remoteAddress).to.equal('127.0.0.1');
  });

  it('has one current read, and none behind it', async () => {
    const reads: number[] = [];
    wire.receiver = { onBytes: () => reads.push(currentRead(), currentRead()) };
    peer.write('one');
    await eventually(() => expect(reads).to.have.length(2));
    expect(currentRead()).to.equal(0);
    peer.write('two');
    await eventually(() => expect(reads).to.have.length(4));
    const [first, same, second] = reads;
    expect(first).to.be.greaterThan(0).and.equal(same);
    expect(second).to.be.greaterThan(0).and.not.equal(first);
  });

  it('reads arriving bytes, and nothing while it is paused', async () => {
    peer.write('one');
    await eventually(() => expect(came).to.equal('one'));
    wire.pause();
    peer.write('two');
    const echo = new Promise((resolve) => peer.once('data', resolve));
    wire.write('.', 'latin1');
    await echo;
    expect(came).to.equal('one');
    wire.resume();
    await eventually(() => expect(came).to.equal('onetwo'));
  });

  it('writes text as Latin-1 and bytes as they are, in order', async () => {
    wire.write('é', 'latin1');
    wire.write(Buffer.of(0, 255));
    wire.write('.', 'latin1');
    wire.end();
    expect(await all(peer)).to.equal('é\u0000ÿ.');
  });

  it('sends the text of one tick in one piece, by the end of the tick', async () => {
    const pieces: string[] = [];
    peer.on('data', (chunk: Buffer) => pieces.push(chunk.toString('latin1')));
    wire.write('one ', 'latin1');
    wire.write('two ', 'latin1');
    await eventually(() => expect(pieces).to.deep.equal(['one two ']));
    wire.write('three', 'latin1');
    await eventually(() => expect(pieces).to.deep.equal(['one two ', 'three']));
  });

  it('sends waiting text when it is flushed, ended or destroyed, and none when it is reset', async () => {
    const { handle, writes } = recording();
    const other = new TcpSocket(handle, { halfOpen: true });
    other.write('flushed', 'latin1');
    other.flush();
    expect(writes).to.deep.equal(['flushed']);
    other.write('ended', 'latin1');
    other.end();
    expect(writes).to.deep.equal(['flushed', 'ended']);
    for (const [act, sent] of [
      ['destroy', ['last']],
      ['resetAndDestroy', []],
    ] as const) {
      const { handle: its, writes: what } = recording();
      const one = new TcpSocket(its, { halfOpen: true });
      one.write('last', 'latin1');
      one[act]();
      await new Promise((resolve) => setImmediate(resolve));
      expect(what).to.deep.equal(sent);
    }
  });

  it('does not let much text wait', () => {
    const { handle, writes } = recording();
    const other = new TcpSocket(handle, { halfOpen: true });
    for (let i = 0; i < 100; i++) other.write('x'.repeat(1_000), 'latin1');
    expect(writes.map(({ length }) => length)).to.deep.equal(Array.from({ length: 11 }, () => 9_000));
  });

  it('gathers small writes that the kernel does not take in one piece of memory', async () => {
    peer.pause();
    let written = 0;
    const write = (text: string): void => {
      wire.write(text, 'latin1');
      wire.flush();
      written += text.length;
    };
    while (wire.writableLength === 0) write('x'.repeat(100_000));
    const beyond = 8_000;
    for (let i = 0; i < beyond; i++) {
      if (i % 2 === 0) write('y');
      else {
        wire.write(Buffer.from('z'));
        written++;
      }
    }
    expect(wire.held.parts).to.equal(1);
    expect(wire.held.bytes).to.be.within(beyond, 2 * beyond + 512);
    wire.end();
    const text = await all(peer);
    expect(text.length).to.equal(written);
    expect(text.slice(-beyond) === 'yz'.repeat(beyond / 2)).to.equal(true);
  });

  it('keeps bytes that the kernel does not take, in order, and emits drain when it has taken them', async () => {
    peer.pause();
    const sent: string[] = [];
    let roomy = true;
    for (let i = 0; roomy || i % 8 !== 0; i++) {
      const letter = String.fromCharCode(97 + (i % 26));
      const text = letter.repeat(100_000 + i);
      sent.push(text);
      roomy = i % 2 === 0 ? wire.write(text, 'latin1') : wire.write(Buffer.from(text));
    }
    expect(wire.writableLength).to.be.greaterThan(8 * 1024);
    const text = all(peer);
    await eventually(() => expect(told).to.deep.equal(['drain']));
    expect(wire.writableLength).to.equal(0);
    wire.end();
    expect((await text) === sent.join('')).to.equal(true);
  });

  it('that may be half open writes on after FIN, and closes when it has ended too', async () => {
    peer.end('last');
    await eventually(() => expect(told).to.deep.equal(['end']));
    expect([came, wire.readableEnded, wire.writable]).to.deep.equal(['last', true, true]);
    wire.write('answer', 'latin1');
    wire.end();
    expect(await all(peer)).to.equal('answer');
    await eventually(() => expect(told).to.deep.equal(['end', 'close']));
  });

  it('that may not answers FIN with FIN', async () => {
    wire.destroy();
    peer.destroy();
    server.close();
    await open(false);
    peer.end();
    await all(peer);
    await eventually(() => expect(told).to.deep.equal(['end', 'close']));
  });

  it('that has ended drops writes, and still reads', async () => {
    wire.end();
    expect(wire.write('late', 'latin1')).to.equal(true);
    expect(await all(peer)).to.equal('');
    peer.write('more');
    await eventually(() => expect(came).to.equal('more'));
    expect(wire.writable).to.equal(false);
  });

  const writeUntilReset = () =>
    eventually(() => {
      wire.write(Buffer.from('x'));
      expect(wire.writable).to.equal(false);
    });

  it('that reads after a reset delivers the bytes before it, and then fails', async () => {
    wire.readsAfterReset = true;
    wire.pause();
    peer.write('answer', () => peer.resetAndDestroy());
    await writeUntilReset();
    expect([came, told]).to.deep.equal(['', []]);
    wire.resume();
    await eventually(() => expect(told).to.deep.equal(['ECONNRESET', 'close']));
    expect(came).to.equal('answer');
  });

  it('that reads after a reset behind FIN has come to its end', async () => {
    wire.readsAfterReset = true;
    wire.pause();
    peer.pause();
    wire.write(Buffer.alloc(1 << 20));
    peer.end('answer', () => peer.destroy());
    await writeUntilReset();
    wire.resume();
    await eventually(() => expect(told).to.deep.equal(['end', 'close']));
    expect(came).to.equal('answer');
  });

  it('that does not fails with the write that finds the reset', async () => {
    wire.pause();
    peer.write('answer', () => peer.resetAndDestroy());
    await writeUntilReset();
    await eventually(() => expect(told).to.deep.equal(['ECONNRESET', 'close']));
    expect(came).to.equal('');
  });

  it('destroyed soon first sends its writes', async () => {
    peer.pause();
    const text = 'x'.repeat(8 << 20);
    wire.write(text, 'latin1');
    wire.destroySoon();
    expect((await all(peer)).length).to.equal(text.length);
    await eventually(() => expect(told).to.deep.equal(['drain', 'close']));
  });

  it('destroyed emits close once, later, and takes nothing more', async () => {
    wire.destroy();
    wire.destroy();
    expect([told, wire.destroyed, wire.closed]).to.deep.equal([[], true, false]);
    for (const act of ['pause', 'resume', 'end', 'destroySoon', 'resetAndDestroy'] as const) wire[act]();
    wire.setKeepAlive(true, 60_000);
    expect([wire.write('x', 'latin1'), wire.remoteAddress]).to.deep.equal([true, undefined]);
    await eventually(() => expect(told).to.deep.equal(['close']));
  });

  it('destroyed while it writes forgets the rest without an error', async () => {
    peer.pause();
    while (wire.write('x'.repeat(1 << 20), 'latin1'));
    wire.destroy();
    await eventually(() => expect(told).to.deep.equal(['close']));
  });

  it('reset is an error at its other end', async () => {
    const failed = once(peer, 'error');
    wire.resetAndDestroy();
    expect((await failed)[0].code).to.equal('ECONNRESET');
  });

  it('that its peer resets emits the reason before it closes', async () => {
    peer.resetAndDestroy();
    await eventually(() => expect(told).to.deep.equal(['ECONNRESET', 'close']));
  });

  it('does not emit an error before its caller has returned', async () => {
    wire.pause();
    peer.resetAndDestroy();
    await eventually(() => {
      const before = [...told];
      wire.write('x', 'latin1');
      expect(told).to.deep.equal(before);
      expect(wire.destroyed).to.equal(true);
    });
    await eventually(() => expect(told[1]).to.equal('close'));
    expect(told[0]).to.be.oneOf(['EPIPE', 'ECONNRESET']);
  });

  it('emits to present listeners, and once to those of once', async () => {
    const heard: string[] = [];
    const left = (): void => void heard.push('left');
    wire.on('end', left).once('end', () => heard.push('once'));
    wire.off('end', left);
    wire.on('drain', left).removeAllListeners('drain');
    peer.end();
    await eventually(() => expect(told).to.deep.equal(['end']));
    expect(heard).to.deep.equal(['once']);
  });
});

/** A handle that takes all it is given at once. */
function recording(): { readonly handle: TcpHandle; readonly writes: string[] } {
  const writes: string[] = [];
  const handle = {
    useUserBuffer: () => {},
    readStop: () => 0,
    writeLatin1String: (_request: object, text: string) => {
      writes.push(text);
      return 0;
    },
    shutdown: () => 0,
    close: () => {},
    reset: () => 0,
  };
  return { handle: handle as unknown as TcpHandle, writes };
}
