// Several addresses of one name (contract.md §2.3.2, RFC 8305): loopback addresses that are silent, refuse or answer.
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { expect } from 'chai';
import type { PoolCallbacks } from '../../../../src/proxy/message/upstream-stream.ts';
import type { ByteSocket } from '../../../../src/proxy/socket/byte-socket.ts';
import { ConnectAttempt } from '../../../../src/proxy/upstream/connect-attempt.ts';
import type { EndpointAddress } from '../../../../src/proxy/upstream/endpoint-address.ts';
import { NameLookup } from '../../../../src/proxy/upstream/name-lookup.ts';
import { Wheel } from '../../../../src/proxy/wheel.ts';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { type SilentPort, silentPort } from '../../../support/silent-port.ts';

const first = '127.0.0.1';
const second = '127.0.0.2';

describe('a connection to a name of several addresses', () => {
  let clock: ManualClock;
  let closing: (() => void)[];

  beforeEach(() => {
    clock = new ManualClock();
    closing = [];
  });

  afterEach(() => {
    for (const close of closing) close();
  });

  async function silent(): Promise<SilentPort> {
    const port = await silentPort();
    closing.push(() => port.close());
    return port;
  }

  async function serving(address: string, port: number): Promise<Server> {
    const server = createServer((socket) => void closing.push(() => socket.destroy())).listen(port, address);
    closing.push(() => server.close());
    await once(server, 'listening');
    return server;
  }

  /** Returns the result of an attempt: `opened`, or the reason of its failure. */
  function attempt(port: number, addresses: readonly string[], dualStackFallbackMs: number, connectMs = 0) {
    const found: LookupAddress[] = addresses.map((address) => ({ address, family: 4 }));
    const outcomes: string[] = [];
    const taker = { onNoConnection: (type: string, message: string) => void outcomes.push(`${type} ${message}`) };
    const owner = {
      onOpened: (_attempt: ConnectAttempt, socket: ByteSocket) => {
        outcomes.push('opened');
        closing.push(() => socket.destroy());
      },
      onNotOpened: () => {},
    };
    const options = { connectMs, dualStackFallbackMs, security: undefined, tlsHandshakeMs: 0 };
    const names = new NameLookup(clock, (_name, answer) => setImmediate(answer, null, found));
    const address = { name: `upstream.test:${port}`, host: 'upstream.test', port } as unknown as EndpointAddress;
    const made = new ConnectAttempt(taker as unknown as PoolCallbacks, address, owner, options, {
      wheel: new Wheel(clock),
      names,
    });
    closing.push(() => made.abort());
    return { outcomes, made };
  }

  const turns = async (): Promise<void> => {
    for (let at = 0; at < 20; at++) await new Promise((resolve) => setImmediate(resolve));
  };

  it('is tried at the other address as well when the first one has been silent for a while', async () => {
    const { port } = await silent();
    await serving(second, port);
    const { outcomes } = attempt(port, [first, second], 300);
    await turns();
    expect(outcomes).to.deep.equal([]);
    clock.advance(400);
    await eventually(() => expect(outcomes).to.deep.equal(['opened']));
  });

  it('goes on at the first address while others are tried, and is opened when that answers late', async () => {
    const late = await silent();
    const { outcomes } = attempt(late.port, [first, second], 300);
    await turns();
    clock.advance(400);
    await turns();
    expect(outcomes, 'the second one refuses').to.deep.equal([]);
    late.wake();
    await eventually(() => expect(outcomes).to.deep.equal(['opened']));
  });

  it('is tried at both at once where there is to be no delay', async () => {
    const { port } = await silent();
    await serving(second, port);
    const { outcomes } = attempt(port, [first, second], 0);
    await eventually(() => expect(outcomes).to.deep.equal(['opened']));
  });

  it('goes to the next address at once when one refuses', async () => {
    const port = await freePort();
    await serving(second, port);
    const { outcomes } = attempt(port, [first, second], 60_000);
    await eventually(() => expect(outcomes).to.deep.equal(['opened']));
  });

  it('fails as the first address did when all refuse', async () => {
    const { outcomes } = attempt(await freePort(), [first, second], 300);
    await eventually(() => expect(outcomes).to.deep.equal(['connection_refused ECONNREFUSED']));
  });

  it('fails in time when all are silent, and opens nothing afterwards', async () => {
    const late = await silent();
    const { outcomes } = attempt(late.port, [first, first], 300, 1_000);
    await turns();
    clock.advance(400);
    clock.advance(700);
    expect(outcomes).to.deep.equal(['timeout not connected in time']);
    late.wake();
    await turns();
    expect(outcomes).to.have.length(1);
  });

  it('is given up while the name is looked up, and while addresses are tried', async () => {
    const { port } = await silent();
    const [early, tried] = [attempt(port, [first, second], 300), attempt(port, [first, second], 300)];
    early.made.abort();
    await turns();
    tried.made.abort();
    clock.advance(400);
    await turns();
    expect([...early.outcomes, ...tried.outcomes]).to.deep.equal([]);
  });
});
