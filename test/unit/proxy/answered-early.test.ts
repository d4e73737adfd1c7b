// A client that is answered before its request's body is whole (protocols.md §6): its next request is not lost, and it
// gets to read the answer.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ProxyBed } from '../../support/proxy-bed.ts';

const chunked = 'POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
const next = 'GET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
const chunk = (bytes: number): string => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;

describe('a client answered before its body is whole', () => {
  let bed: ProxyBed;
  let port: number;
  const begin = async (options = {}, timeouts = {}): Promise<void> => {
    bed = new ProxyBed(options);
    port = await freePort();
    await bed.install({ listeners: [{ id: 'l', name: 'l', port, timeouts }] });
  };
  afterEach(() => bed.end());

  it('goes on with its next request behind up to 16 MiB of chunks', async () => {
    await begin();
    const wire = bed.wire(port);
    wire.send(chunked);
    expect(await wire.until(/404/)).not.to.contain('Connection: close');
    for (let i = 0; i < 15; i++) wire.send(chunk(1 << 20));
    wire.send(`0\r\n\r\n${next}`);
    expect((await wire.untilClosed()).match(/HTTP\/1\.1 404/g)).to.have.length(2);
  });

  it('goes on with its next request behind up to 1 MiB of known length', async () => {
    await begin();
    const wire = bed.wire(port);
    wire.send('POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n');
    expect(await wire.until(/404/)).not.to.contain('Connection: close');
    wire.send('x'.repeat(1_000_000) + next);
    expect((await wire.untilClosed()).match(/HTTP\/1\.1 404/g)).to.have.length(2);
  });

  it('is cut off behind more chunks than that', async () => {
    await begin();
    const wire = bed.wire(port);
    wire.send(chunked);
    await wire.until(/404/);
    for (let i = 0; i < 17; i++) wire.send(chunk(1 << 20));
    wire.send(`0\r\n\r\n${next}`);
    expect((await wire.untilClosed()).match(/HTTP\/1\.1 404/g)).to.have.length(1);
  });

  it('has 30 seconds for the rest, and what clientRequest leaves of them', async () => {
    for (const [clientRequest, ms] of [
      ['0s', 30_000],
      ['10s', 10_000],
    ] as const) {
      const clock = new ManualClock();
      await begin({ clock }, { clientRequest });
      const wire = bed.wire(port);
      wire.send(chunked);
      await wire.until(/404/);
      clock.advance(ms - 1_000);
      wire.send(chunk(10));
      await sleep(50);
      expect(wire.closed).to.equal(false);
      await eventually(() => {
        clock.advance(1_000);
        expect(wire.closed).to.equal(true);
      });
      if (clientRequest === '0s') await bed.end();
    }
  });

  it('that sends all before it reads gets the answer that says `Connection: close`', async () => {
    await begin();
    const piece = Buffer.alloc(64 * 1024);
    const errors: string[] = [];
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    bed.atEnd(async () => void socket.destroy());
    socket.on('error', ({ message }) => errors.push(message));
    socket.pause();
    socket.write(`POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: ${40 * piece.length}\r\n\r\n`);
    for (let i = 0; i < 40; i++) {
      socket.write(piece);
      await sleep(75);
    }
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
    });
    socket.resume();
    await eventually(() => expect(received).to.match(/^HTTP\/1\.1 404 [\s\S]*\r\nConnection: close\r\n/));
    expect(errors).to.deep.equal([]);
  });
});
