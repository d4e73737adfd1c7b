// Connections under TLS look to their receiver like plain ones: same bytes, same order, and nothing while it wants none.
import { connect as connectPlain, createServer, type Server, type Socket } from 'node:net';
import { connect, createSecureContext, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { acceptHandles } from '../../../../src/proxy/socket/accepting.ts';
import { SecureSocket } from '../../../../src/proxy/tls/secure-socket.ts';
import { alpnList } from '../../../../src/proxy/tls/tls-handle.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeCertificate } from '../../../support/made-certificates.ts';
import { listening } from '../../../support/proxy-bed.ts';

const { cert, key } = makeCertificate({ dnsNames: ['own.test'] });
const context = createSecureContext({ cert, key, ca: [] });

const secured = {
  version: 'TLSv1.3',
  serverName: '',
  protocol: '',
  resumed: false,
  client: undefined,
  covers: () => true,
};

describe('a TLS connection', () => {
  let server: Server;
  let wire: SecureSocket;
  let client: TLSSocket;
  let plain: Socket;
  /** Text that the receiver of `wire` got. */
  let came: string;
  let ended: boolean;

  beforeEach(async () => {
    came = '';
    ended = false;
    server = createServer();
    const port = await listening(server);
    const accepted = new Promise<SecureSocket>((resolve) => {
      acceptHandles(server, (handle) => {
        const side = {
          context,
          protocols: alpnList(['http/1.1']),
          requestCertificate: false,
          requireCertificate: false,
        };
        const made = SecureSocket.accept(handle, { ...side, choose: () => context });
        made.once('secure', () => {
          made.release(secured);
          made.receiver = {
            onBytes: (bytes, length) => {
              came += bytes.toString('latin1', 0, length);
            },
          };
          made.on('end', () => {
            ended = true;
          });
          made.on('error', () => {});
          made.resume();
          resolve(made);
        });
      });
    });
    plain = connectPlain({ port, host: '127.0.0.1' });
    client = connect({ socket: plain, rejectUnauthorized: false });
    client.on('error', () => {});
    wire = await accepted;
  });
  afterEach(() => {
    wire.destroy();
    client.destroy();
    server.close();
  });

  it('emits drain behind each write, small ones too: its buffer is released', async () => {
    for (let write = 0; write < 3; write++) {
      const room = new Promise((resolve) => wire.once('drain', () => resolve(wire.writableLength)));
      wire.write('few');
      expect(await room).to.equal(0);
    }
  });

  it('gathers pending small writes, and small records received while paused, in one piece of memory each', async () => {
    const beyond = 8_000;
    wire.write(Buffer.alloc(4_000_000, 'x'));
    for (let i = 0; i < beyond; i++) {
      wire.write(i % 2 === 0 ? Buffer.from('z') : 'y', 'latin1');
      wire.flush();
    }
    expect(wire.held.parts).to.equal(1);
    expect(wire.held.bytes).to.be.within(beyond, 2 * beyond + 512);
    let text = '';
    client.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    await eventually(() => expect(text.length).to.equal(4_000_000 + beyond));
    expect(text.slice(-beyond) === 'zy'.repeat(beyond / 2)).to.equal(true);
    wire.receiver = {
      onBytes: (bytes, length) => {
        came += bytes.toString('latin1', 0, length);
        if (came.length === length) wire.pause();
      },
    };
    client.setMaxSendFragment(512);
    client.write('w'.repeat(60_000));
    await eventually(() => expect(wire.held.read).to.be.greaterThan(0));
    expect(wire.held.read).to.be.at.most(2 * 64 * 1024);
    wire.resume();
    await eventually(() => expect(came).to.equal('w'.repeat(60_000)));
  });

  it('delivers nothing while it is paused, and all of it in order when it resumes, its end included', async () => {
    const sent = Array.from({ length: 2_000 }, (_, i) => `${i};`)
      .join('')
      .padEnd(600_000, '.');
    const pieces: number[] = [];
    let lastPaused = false;
    wire.receiver = {
      onBytes: (bytes, length) => {
        expect(lastPaused, 'delivered while paused').to.equal(false);
        came += bytes.toString('latin1', 0, length);
        pieces.push(length);
        wire.pause();
        lastPaused = true;
        setImmediate(() => {
          lastPaused = false;
          wire.resume();
        });
      },
    };
    client.end(sent);
    await eventually(() => expect(ended).to.equal(true));
    expect(came).to.equal(sent);
    expect(wire.truncated).to.equal(false);
    expect(pieces.length).to.be.greaterThan(10);
  });

  it('delivers bytes received while paused when the end has arrived as well', async () => {
    wire.receiver = {
      onBytes: (bytes, length) => {
        came += bytes.toString('latin1', 0, length);
        if (came.length === length) wire.pause();
      },
    };
    // Two records in one write of the system's: the second is decrypted with the first.
    client.cork();
    client.write('one');
    client.write('two');
    client.uncork();
    plain.cork();
    client.write('three');
    client.end();
    plain.uncork();
    await eventually(() => expect(came).to.not.equal(''));
    expect(ended).to.equal(false);
    wire.resume();
    await eventually(() => expect(ended).to.equal(true));
    expect(came).to.equal('onetwothree');
    expect(wire.truncated).to.equal(false);
  });

  it('distinguishes an end without close_notify from one with it', async () => {
    client.write('all', () => plain.end());
    await eventually(() => expect(ended).to.equal(true));
    expect(came).to.equal('all');
    expect(wire.truncated).to.equal(true);
  });

  it('sends writes made during a write in order, and close_notify behind all of them', async () => {
    let received = '';
    client.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
    const over = new Promise((resolve) => client.once('end', resolve));
    for (const part of ['one ', 'two ', Buffer.from('three '), Buffer.from('four '), 'five ', 'six']) wire.write(part);
    wire.end();
    wire.write('too late');
    expect(wire.writable).to.equal(false);
    await over;
    expect(received).to.equal('one two three four five six');
    expect(wire.writableLength).to.equal(0);
  });

  it('sends close_notify once when a listener of drain ends it', async () => {
    let received = '';
    client.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
    const over = new Promise((resolve) => client.once('end', resolve));
    wire.once('drain', () => wire.end());
    wire.write('all');
    await over;
    client.end();
    await eventually(() => expect(wire.closed).to.equal(true));
    expect(received).to.equal('all');
  });

  it('closes once everything written has left', async () => {
    let received = 0;
    client.on('data', (chunk: Buffer) => (received += chunk.length));
    const closed = new Promise((resolve) => wire.once('close', resolve));
    for (let write = 0; write < 8; write++) wire.write(Buffer.alloc(200_000));
    wire.destroySoon();
    await closed;
    await eventually(() => expect(received).to.equal(1_600_000));
  });

  it('closes at once although writes are pending', async () => {
    const closed = new Promise((resolve) => wire.once('close', resolve));
    for (let write = 0; write < 8; write++) wire.write(Buffer.alloc(1 << 20));
    wire.destroy();
    await closed;
    expect(wire.destroyed).to.equal(true);
  });

  it('is reset without close_notify', async () => {
    let error = '';
    client.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
      error = code;
    });
    const closed = new Promise((resolve) => wire.once('close', resolve));
    wire.resetAndDestroy();
    await closed;
    await eventually(() => expect(error).to.equal('ECONNRESET'));
  });

  it('drains large writes', async () => {
    let received = 0;
    client.on('data', (chunk: Buffer) => (received += chunk.length));
    const drained = new Promise((resolve) => wire.once('drain', resolve));
    expect(wire.write(Buffer.alloc(4 << 20))).to.equal(false);
    await drained;
    expect(wire.writableLength).to.equal(0);
    await eventually(() => expect(received).to.equal(4 << 20));
  });
});
