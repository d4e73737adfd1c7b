// Removal of a listener by an activation while exchanges of every protocol are in flight on it, and activations go on:
// exchanges end normally, idle connections are told to close, tunnels are cut when the time of the drain is over, and
// clients of another port notice nothing.
import { once } from 'node:events';
import { Agent, type ClientRequest, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import http2, { type ClientHttp2Stream, type ServerHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import { expect } from 'chai';
import { type ApiClient, apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { answerOf, Http2Client } from '../support/http2-client.ts';
import { type Load, startLoad } from '../support/load.ts';
import { Chat } from '../support/long-lived.ts';
import { listening } from '../support/proxy-bed.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';
import { echoWebSocket } from '../support/web-socket-echo.ts';

/** Long enough for all that has to happen before it is over, on a machine that is busy. */
const drainMs = 20_000;
/** The id of no stream: a GOAWAY that only says that the end is coming. */
const anyStream = 2 ** 31 - 1;

/** Begun before the listener goes, answered in part, and held by the upstream until `letGo`. */
const held: ServerResponse[] = [];
/** Requests that an upstream has seen, by what the client called them. */
const seen = new Set<string>();

function answer(incoming: IncomingMessage, response: ServerResponse): void {
  seen.add(String(incoming.headers['x-id']));
  if (incoming.url === '/held') {
    response.write('first ');
    held.push(response);
  } else incoming.pipe(response);
}

/** A gRPC service that says what it hears, message by message. */
function converse(stream: ServerHttp2Stream): void {
  stream.on('error', () => {});
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.pipe(stream);
}

/** Call that stays open, from its first message on. */
class Call {
  readonly stream: ClientHttp2Stream;
  readonly over: ReturnType<typeof answerOf>;
  #text = '';

  constructor(client: Http2Client) {
    this.stream = client.open({
      ...{ ':method': 'POST', ':path': '/echo.Echo/Converse' },
      ...{ 'content-type': 'application/grpc', te: 'trailers' },
    });
    this.stream.on('data', (chunk: Buffer) => {
      this.#text += chunk;
    });
    this.over = answerOf(this.stream);
  }

  async says(text: string): Promise<void> {
    this.stream.write(text);
    await eventually(() => expect(this.#text.endsWith(text)).to.equal(true));
  }
}

/** A WebSocket by extended CONNECT, as bytes: what its frames say is the upstream's. */
async function tunnelOf(client: Http2Client): Promise<{ says(): Promise<void>; readonly stream: ClientHttp2Stream }> {
  await once(client.session, 'remoteSettings');
  const stream = client.open({ ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/chat' });
  let length = 0;
  stream.on('data', (chunk: Buffer) => {
    length += chunk.length;
  });
  await once(stream, 'response');
  return {
    stream,
    async says() {
      const before = length;
      // A frame of two bytes, masked with zeros; its echo has no mask.
      stream.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]));
      await eventually(() => expect(length).to.equal(before + 4));
    },
  };
}

const textOf = async (incoming: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of incoming.setEncoding('latin1')) text += chunk;
  return text;
};

/** Client that asks again and again, each time with a new name, until it is told to close. */
interface Loading {
  served: number;
  readonly failed: string[];
  readonly over: Promise<void>;
}

describe('a listener that goes under mixed load', () => {
  const upstream = createServer({ keepAliveTimeout: 0 }, answer);
  const upgraded: Duplex[] = [];
  upstream.on('upgrade', (incoming, socket) => {
    upgraded.push(socket);
    echoWebSocket(incoming, socket);
  });
  const grpc = http2.createServer().on('stream', converse);
  let sluice: SluiceProcess;
  let api: ApiClient;
  let going: number;
  let listenerId: string;
  let elsewhere: Load;
  let leaving = false;

  before(async () => {
    const [port, grpcPort] = [await listening(upstream), await listening(grpc)];
    sluice = await startSluice({
      controlPlane: `  shutdownTimeout: ${drainMs}ms\n`,
      more: 'proxy: { workers: 2 }',
    });
    api = apiClient(sluice.url);
    going = await freePort();
    const staying = await freePort();
    listenerId = await api.create('listeners', { name: 'going', address: '127.0.0.1', port: going, http2: true });
    await api.create('listeners', { name: 'staying', address: '127.0.0.1', port: staying, http2: true });
    await api.create('destinations', { id: 'd', name: 'd', host: '127.0.0.1', port });
    await api.create('destinations', {
      ...{ id: 'grpc', name: 'grpc', host: '127.0.0.1', port: grpcPort },
      options: { http2: true },
    });
    await api.create('routes', {
      ...{ name: 'grpc', match: { grpc: true } },
      forward: { destinations: [{ destinationId: 'grpc' }] },
    });
    await api.create('routes', { id: 'all', ...route(0) });
    await api.activateAs('v0');
    elsewhere = startLoad(`http://127.0.0.1:${staying}/`, '', { clients: 4 });
  });

  after(async () => {
    await elsewhere?.stop();
    await sluice?.stop('SIGKILL');
    for (const socket of upgraded) socket.destroy();
    for (const server of [grpc, upstream]) server.close();
  });

  /** Returns a route that differs in each activation. */
  const route = (round: number) => ({
    name: 'all',
    forward: { destinations: [{ destinationId: 'd' }] },
    timeouts: { request: `${100 + round}s` },
  });

  const activate = async (round: number): Promise<void> => {
    expect((await api.put('/routes/all', route(round))).status).to.equal(200);
    await api.activateAs(`v${round}`);
  };

  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
  let names = 0;
  /** Accepts a failure only of a request that the upstream has not seen, after the removal began. */
  const judge = (loading: Loading, name: string, said: string): void => {
    if (said === `200 ${name}`) loading.served++;
    else if (!leaving || seen.has(name)) loading.failed.push(`${name}: ${said}`);
  };

  const byHttp1 = (agent: Agent): Loading => {
    const ask = (name: string): Promise<string> =>
      new Promise((resolve) => {
        const outgoing: ClientRequest = request(
          { agent, port: going, host: '127.0.0.1', method: 'POST', path: '/', headers: { 'x-id': name } },
          (incoming) =>
            void textOf(incoming).then(
              (text) => resolve(`${incoming.statusCode} ${text}`),
              (error: Error) => resolve(`cut: ${error.message}`),
            ),
        );
        outgoing.on('error', ({ message }) => resolve(message));
        outgoing.end(name);
      });
    const visit = async (): Promise<void> => {
      for (let said = ''; !said.includes('ECONNREFUSED'); ) {
        const name = `h1-${names++}`;
        await pause();
        said = await ask(name);
        judge(loading, name, said);
      }
    };
    const loading: Loading = { served: 0, failed: [], over: Promise.resolve().then(visit) };
    return loading;
  };

  const byHttp2 = (client: Http2Client): Loading => {
    const visit = async (): Promise<void> => {
      while (!client.closed && !client.session.closed) {
        await pause();
        if (client.session.closed) return;
        const name = `h2-${names++}`;
        const { status, body } = await client.ask({ ':method': 'POST', ':path': '/', 'x-id': name }, name);
        judge(loading, name, `${status} ${body}`);
      }
    };
    const loading: Loading = { served: 0, failed: [], over: Promise.resolve().then(visit) };
    return loading;
  };

  it('ends exchanges normally, closes idle connections, and cuts tunnels when the time is over', async () => {
    const site = `http://127.0.0.1:${going}`;
    const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    const busy = Array.from({ length: 2 }, () => new Http2Client(site));
    const kept = Array.from({ length: 2 }, () => new Http2Client(site));
    const tunnelling = new Http2Client(site);
    const [tunnel, chat] = await Promise.all([tunnelOf(tunnelling), Chat.begin(site)]);
    const loads = [...agents.map(byHttp1), ...busy.flatMap((client) => [byHttp2(client), byHttp2(client)])];
    const calls = kept.map((client) => new Call(client));
    const heldByHttp2 = kept.map((client) => client.ask({ ':path': '/held' }));
    const heldByHttp1 = [0, 1].map(async () => {
      const outgoing = request({ agent: new Agent(), port: going, host: '127.0.0.1', path: '/held' }).end();
      const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
      return textOf(incoming);
    });
    await eventually(() => {
      for (const { served } of loads) expect(served).to.be.greaterThan(20);
      expect(held).to.have.length(4);
    });
    for (let round = 1; round <= 3; round++) await activate(round);
    for (const call of calls) await call.says('before');
    await Promise.all([chat.says('before'), tunnel.says()]);

    leaving = true;
    const leavingMs = performance.now();
    expect((await api.delete(`/listeners/${listenerId}`)).status).to.equal(204);
    for (let round = 4; round <= 6; round++) await activate(round);

    // New connections are refused and idle ones closed: HTTP/2 gets two GOAWAY where streams are open.
    await Promise.all(loads.map(({ over }) => over));
    expect(loads.flatMap(({ failed }) => failed)).to.deep.equal([]);
    for (const { goAways } of busy) expect(goAways[0]).to.equal(anyStream);
    for (const { goAways } of [...kept, tunnelling])
      await eventually(() => {
        expect(goAways).to.have.length(2);
        expect(goAways[0]).to.equal(anyStream);
        expect(goAways[1]).to.be.within(1, 1_000_000);
      });

    // What was under way goes on, and ends as it would have.
    for (const call of calls) await call.says('after');
    await Promise.all([chat.says('after'), tunnel.says()]);
    for (const response of held) response.end('last');
    for (const text of await Promise.all(heldByHttp1)) expect(text).to.equal('first last');
    for (const { status, body } of await Promise.all(heldByHttp2))
      expect([status, body]).to.deep.equal([200, 'first last']);
    for (const { stream } of calls) stream.end();
    for (const { status, trailers, body } of await Promise.all(calls.map(({ over }) => over)))
      expect([status, body, trailers['grpc-status']]).to.deep.equal([200, 'beforeafter', '0']);
    await eventually(() => expect(kept.map(({ closed }) => closed)).to.deep.equal([true, true]));

    // Tunnels have no end of their own.
    await eventually(() => {
      expect(chat.over).to.equal(true);
      expect(tunnel.stream.closed).to.equal(true);
    });
    expect(performance.now() - leavingMs).to.be.greaterThan(drainMs);
    expect(elsewhere.failed).to.deep.equal([]);
    for (const agent of agents) agent.destroy();
    for (const client of [...busy, ...kept, tunnelling]) client.close();
  });
});
