// Memory that a bound in bytes stands for when the bytes arrive one by one, each in a buffer of its own: twice the bytes, for
// growing, and a little more. A list of the pieces would hold a hundred times as much.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { LeaderConnections } from '../../src/cluster/relay/leader-connections.ts';
import { HelloReader } from '../../src/proxy/tls/client-hello.ts';
import { systemClock } from '../../src/util/clock.ts';
import { count, holderOf, holders, type Take } from '../support/byte-holders.ts';
import { byteLimits } from '../support/byte-limits.ts';
import { eventually } from '../support/eventually.ts';
import { heldBehind } from '../support/held-memory.ts';
import { listening } from '../support/proxy-bed.ts';

/** Memory of a test run that has nothing to do with what is held. */
const slack = 8_000_000;
const piece = (at: number): Buffer => Buffer.from([at & 0x7f]);

describe('bytes that arrive one by one', () => {
  it('have a measured holder for each limit in bytes of the settings and the fields', () => {
    expect(Object.keys(holderOf).sort()).to.deep.equal(byteLimits().sort());
  });

  for (const [name, make] of Object.entries<() => Take>(holders))
    it(`are held in at most twice their size by ${name}`, async () => {
      const { bytes, result } = await heldBehind(() => {
        const take = make();
        for (let at = 0; at < count; at++) take(piece(at), at);
        return take;
      });
      expect(bytes).to.be.lessThan(2 * count + slack);
      // The measured holder is still there.
      result(piece(0), count);
      result.clear?.();
    });

  it('would be found by this measure in a list of the pieces', async () => {
    const { bytes, result } = await heldBehind(() => Array.from({ length: count }, (_, at) => piece(at)));
    expect(bytes).to.be.greaterThan(2 * count + slack);
    expect(result).to.have.lengthOf(count);
  });

  it('are held once by the reader of a hello, which keeps none itself', async () => {
    const hello = Buffer.concat([Buffer.from([22, 3, 1, 0x3f, 0xff, 1, 0, 0x3f, 0xfb]), Buffer.alloc(10_000)]);
    const { bytes } = await heldBehind(() => {
      const reader = new HelloReader();
      for (let at = 1; at <= hello.length; at++) expect(reader.read(hello.subarray(0, at))).to.equal('more');
      return reader;
    });
    expect(bytes).to.be.lessThan(slack);
  });

  it('are held in at most twice their size in the answer of a leader, in chunks of one byte', async () => {
    const begun = Promise.withResolvers<Socket>();
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => begun.resolve(socket));
    });
    let client: Socket | undefined;
    const onSocket = (message: unknown): void => {
      client ??= (message as { readonly socket: Socket }).socket;
    };
    const connections = new LeaderConnections({ tls: undefined, clock: systemClock });
    try {
      const port = await listening(server);
      subscribe('net.client.socket', onSocket);
      const answer = connections.call({
        ...{ address: `127.0.0.1:${port}`, method: 'GET', path: '/', headers: {} },
        ...{ body: Buffer.alloc(0), withinMs: 60_000 },
      });
      const socket = await begun.promise;
      const { bytes } = await heldBehind(async () => {
        socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(count)}`);
        await eventually(() => expect(client?.bytesRead).to.be.greaterThan(6 * count));
      });
      expect(bytes).to.be.lessThan(2 * count + slack);
      socket.write('0\r\n\r\n');
      const reply = await answer;
      expect(reply.is === 'answered' && reply.body.length).to.equal(count);
      socket.destroy();
    } finally {
      unsubscribe('net.client.socket', onSocket);
      await connections.close();
      server.close();
    }
  });
});
