// Services whose name means another address than before (contract.md §8.0).
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createHttp2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import { reasonOf } from '../../../../src/proxy/external/external-failure.ts';
import { GrpcChannel } from '../../../../src/proxy/external/grpc-channel.ts';
import { frameOf } from '../../../../src/proxy/external/grpc-frames.ts';
import { HttpService } from '../../../../src/proxy/external/http-service.ts';
import { requestJwks } from '../../../../src/proxy/jwks/jwks-request.ts';
import { NameLookup } from '../../../../src/proxy/upstream/name-lookup.ts';
import { Wheel } from '../../../../src/proxy/wheel.ts';
import { systemClock } from '../../../../src/util/clock.ts';
import { eventually } from '../../../support/eventually.ts';

const [before, after] = ['127.0.0.1', '127.0.0.2'] as const;

describe('a service whose name gets another address', () => {
  let address: string;
  let names: NameLookup;
  /** Lead of the names' clock, milliseconds. */
  let aheadMs: number;
  /** Look-ups of names that are followed, not due yet. */
  let refreshes: (() => void)[];
  const ends: (() => unknown)[] = [];
  beforeEach(() => {
    address = before;
    aheadMs = 0;
    refreshes = [];
    const clock = {
      ...systemClock,
      monotonicMs: () => systemClock.monotonicMs() + aheadMs,
      after: (_ms: number, refresh: () => void) => {
        refreshes.push(refresh);
        return () => void refreshes.splice(refreshes.indexOf(refresh), 1);
      },
    };
    names = new NameLookup(clock, (_, answer) => setImmediate(answer, null, [{ address, family: 4 }]));
  });
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });

  /** One port at both addresses; what it answers is its own address. */
  const atBoth = async (make: (own: string) => Server): Promise<readonly [number, readonly Server[]]> => {
    const servers = [make(before), make(after)] as const;
    for (const server of servers) ends.push(() => server.close());
    for (;;) {
      await once(servers[0].listen(0, before), 'listening');
      const { port } = servers[0].address() as AddressInfo;
      // A port that the system gives at one address may be in use at the other.
      const free = await once(servers[1].listen(port, after), 'listening').then(
        () => true,
        () => false,
      );
      if (free) return [port, servers];
      await new Promise((resolve) => servers[0].close(resolve));
    }
  };
  const http = (own: string): Server => createServer((_, response) => response.end(own));
  const service = (port: number) => ({ id: 's', name: 's', host: 'service.test', port });
  const tools = () => ({ clock: systemClock, lookup: names.lookup, names });
  const signal = (): AbortSignal => AbortSignal.timeout(120_000);

  it('is asked there over HTTP as soon as a connection is made', async () => {
    const [port, servers] = await atBoth(http);
    const one = new HttpService(service(port), tools());
    ends.push(() => one.close());
    const ask = async (): Promise<string> => {
      const asked = one.ask({ method: 'GET', path: '/', headers: [], body: undefined, signal: signal() });
      return asked.then(({ body }) => body.toString(), reasonOf);
    };
    expect(await ask()).to.equal(before);
    address = after;
    aheadMs = 60_000;
    servers[0]?.close();
    servers[0]?.closeAllConnections();
    await eventually(async () => expect(await ask()).to.equal(after));
  });

  it('is asked there over HTTP once the name has been asked for again, while its connection is used', async () => {
    const [port] = await atBoth(http);
    const one = new HttpService(service(port), tools());
    ends.push(() => one.close());
    const ask = async (): Promise<string> => {
      const asked = one.ask({ method: 'GET', path: '/', headers: [], body: undefined, signal: signal() });
      return asked.then(({ body }) => body.toString(), reasonOf);
    };
    expect(await ask()).to.equal(before);
    address = after;
    expect(await ask()).to.equal(before);
    expect(refreshes).to.have.length(1);
    refreshes.shift()?.();
    await eventually(async () => expect(await ask()).to.equal(after));
  });

  it('takes connections no older than maxConnectionAge', async () => {
    const connections: Socket[] = [];
    const [port] = await atBoth((own) => http(own).on('connection', (socket) => connections.push(socket)));
    let nowMs = 0;
    const clock = { ...systemClock, monotonicMs: () => nowMs };
    const one = new HttpService({ ...service(port), options: { maxConnectionAge: '10s' } }, { clock, names });
    ends.push(() => one.close());
    const ask = () => one.ask({ method: 'GET', path: '/', headers: [], body: undefined, signal: signal() });
    await ask();
    nowMs = 8_900;
    const former = [...connections];
    expect(former.some(({ destroyed }) => destroyed)).to.equal(false);
    nowMs = 10_000;
    await ask();
    expect(connections.length).to.be.greaterThan(former.length);
    await eventually(() => expect(former.every(({ destroyed }) => destroyed)).to.equal(true));
    expect(connections.at(-1)?.destroyed).to.equal(false);
  });

  it('is asked there for its keys', async () => {
    const [port] = await atBoth(http);
    const ask = () => requestJwks({ destination: service(port), path: '/', timeoutMs: 5_000 }, signal(), tools());
    expect(await ask()).to.equal(before);
    address = after;
    aheadMs = 60_000;
    expect(await ask()).to.equal(after);
  });

  it('is asked there over gRPC when the connection has ended', async () => {
    const sessions: ServerHttp2Session[] = [];
    const [port] = await atBoth((own) => {
      const server = createHttp2Server().on('stream', (stream: ServerHttp2Stream) => {
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(frameOf(Buffer.from(own)));
      });
      server.on('session', (session) => sessions.push(session));
      return server as unknown as Server;
    });
    const one = new GrpcChannel(service(port), { clock: systemClock, wheel: new Wheel(systemClock), names });
    ends.push(
      () => one.close(),
      () => sessions.map((session) => session.destroy()),
    );
    const ask = async (): Promise<string> => {
      const asked = one.unary('/a.B/C', Buffer.of(1), { onGivenUp: undefined }, {});
      return asked.then(String, reasonOf);
    };
    expect(await ask()).to.equal(before);
    address = after;
    aheadMs = 60_000;
    expect(await ask(), 'over the connection that is there').to.equal(before);
    sessions[0]?.destroy();
    await eventually(async () => expect(await ask()).to.equal(after));
    address = before;
    aheadMs = 120_000;
    expect(refreshes, 'the name is followed').to.have.length(1);
    refreshes.shift()?.();
    await eventually(async () => expect(await ask()).to.equal(before));
  });
});
