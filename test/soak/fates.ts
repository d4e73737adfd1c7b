// `npm run soak:fates -- --exchanges 100000 --seed 1`: exchanges of every fate through a real Sluice, over HTTP/1.1 and
// HTTP/2, plain and through all eight middlewares (`--all`: none plain), with services over HTTP and over gRPC, while upstreams, mirrors and services answer, refuse, hang, stop halfway
// and vanish, and clients lose patience. Passes (exit 0) when neither memory nor handles grow, and a calm client is served
// at the end.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import http2, { type ClientHttp2Session } from 'node:http2';
import { type AddressInfo, connect, createServer as createRelay, type Socket } from 'node:net';
import { join } from 'node:path';
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { type ApiClient, apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { gaugedSluice } from '../support/gauge.ts';
import { GrpcService } from '../support/grpc-service.ts';
import { seededRandom } from '../support/mutation.ts';
import { endAll } from '../support/sluice-process.ts';
import { inAnHour, jwksOf, signerOf, tokenOf } from '../support/tokens.ts';
import { growths, type Sample } from './verdict.ts';

const { values } = optionsOf(import.meta.url, {
  options: {
    exchanges: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    all: { type: 'boolean', default: false },
  },
});
const exchanges = Number(values.exchanges);
const random = seededRandom(Number(values.seed));
const clients = 32;
const samples = 20;
const bodies = [0, 0, 10, 2_000, 30_000, 200_000];
const anyOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

let calm = false;

/** Behaviours of an upstream. */
const fates: readonly RequestListener[] = [
  ...Array.from({ length: 20 }, (): RequestListener => (_, response) => void response.end('ok')),
  (request, response) => void request.pipe(response),
  (_, response) => void response.writeHead(503).end('no'),
  (_, response) => void response.writeHead(500, { 'content-length': 100_000 }).end('x'.repeat(100_000)),
  (request) => void request.socket.destroy(),
  (request, response) => {
    response.writeHead(200, { 'content-length': 10 }).write('half');
    setTimeout(() => request.socket.destroy(), 5);
  },
  () => {},
  (_, response) => void response.writeHead(200).write('for ever'),
];

/** Failures of a middleware's service. */
const failures: readonly RequestListener[] = [
  (_, response) => void response.writeHead(500).end(),
  (_, response) => void response.end('garbage'),
  (request) => void request.socket.destroy(),
  () => {},
];

function served(listener: RequestListener): Promise<number> {
  const server = createServer((request, response) => {
    request.on('error', () => {});
    response.on('error', () => {});
    listener(request, response);
  });
  server.keepAliveTimeout = 0;
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

const upstream: RequestListener = (request, response) => {
  if (calm) {
    request.resume();
    response.end('ok');
    return;
  }
  const fate = anyOf(fates);
  if (random() < 0.9) request.resume();
  fate(request, response);
};

const service =
  (work: (request: IncomingMessage, response: ServerResponse) => void): RequestListener =>
  (request, response) => {
    if (calm || random() < 0.8) work(request, response);
    else anyOf(failures)(request, response);
  };

/** Answer with the same phase and one more header. */
function processed(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { phase } = JSON.parse(Buffer.concat(chunks).toString()) as { phase: string };
    response.end(JSON.stringify({ action: phase, setHeaders: [{ key: 'x-seen', value: phase }] }));
  });
}

const fails = (): boolean => !calm && random() < 0.2;

/** A service of gRPC, reached through connections of which one breaks now and then. */
async function servedOverGrpc(grpc: GrpcService): Promise<number> {
  const port = await grpc.start();
  const open = new Set<Socket>();
  const relay = createRelay((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from
        .on('error', () => {})
        .on('close', () => {
          open.delete(from);
          to.destroy();
        });
      from.pipe(to);
    }
  });
  setInterval(() => void (calm || anyOf([...open, undefined])?.destroy()), 300).unref();
  return new Promise((resolve) => {
    relay.listen(0, '127.0.0.1', () => resolve((relay.address() as AddressInfo).port));
  });
}

const authorizer = new GrpcService().unary('extauthz.proto', 'extauthz.v1.Authorizer', 'Check', () =>
  fails()
    ? anyOf([undefined, new Error('no'), { allowed: false }])
    : { allowed: true, headers: [{ key: 'x-user', value: 'ann' }] },
);

const processor = new GrpcService().stream('extproc.proto', 'extproc.v1.Processor', 'Process', (message, stream) => {
  const phase = Object.keys(message).find((key) => key !== 'observe_only') ?? '';
  if (!fails()) stream.write({ [phase]: { set_headers: [{ key: 'x-seen', value: phase }] } });
  else anyOf([() => {}, () => stream.end(), () => stream.fail(), () => stream.write({})])();
});

async function configure(api: ApiClient, port: number, logFile: string, keys: string): Promise<void> {
  const [main, other, mirror, authz, proc, authzOverGrpc, procOverGrpc] = await Promise.all([
    served(upstream),
    served(upstream),
    served((request, response) => (random() < 0.5 ? anyOf(fates)(request, response) : undefined)),
    served(service((_, response) => void response.writeHead(200, { 'x-user': 'ann' }).end())),
    served(service(processed)),
    servedOverGrpc(authorizer),
    servedOverGrpc(processor),
  ]);
  await api.create('listeners', { name: 'web', address: '127.0.0.1', port, http2: true, metrics: {} });
  const at = (name: string, of: number, options: object = {}) =>
    api.create('destinations', { id: name, name, host: '127.0.0.1', port: of, options });
  const breaker = { maxRequests: 64, maxRetries: 8, maxPendingRequests: 16, failureThreshold: 0 };
  await api.create('destinations', {
    ...{ id: 'main', name: 'main', host: '127.0.0.1', port: main },
    endpoints: [main, other].map((each) => ({ host: '127.0.0.1', port: each })),
    options: {
      circuitBreaker: breaker,
      maxConnsPerHost: 48,
      endpointBalancing: { algorithm: 'LEAST_REQUEST' },
      outlierDetection: { consecutive5xx: 20, baseEjectionTime: '20ms', interval: '20ms', maxEjectionPercent: 50 },
      timeouts: { responseHeader: '60ms' },
    },
  });
  await at('mirror', mirror, { circuitBreaker: { ...breaker, maxRequests: 16 }, timeouts: { request: '150ms' } });
  await at('authz', authz);
  await at('proc', proc);
  await at('authzOverGrpc', authzOverGrpc);
  await at('procOverGrpc', procOverGrpc);
  const middlewares = {
    accessLog: { path: logFile, json: true, onResponse: { fields: { status: '${response.status}', id: '${id}' } } },
    cors: { allowOrigins: [{ value: '*' }] },
    headers: { requestHeadersToAdd: [{ key: 'x-a', value: '${request.path}' }] },
    rateLimit: { requestsPerSecond: 1_000_000 },
    inlineAuthz: { rules: [{ cel: "request.path.startsWith('/')", action: 'allow' }] },
    jwt: { issuer: 'https://soak.test/', jwksInline: keys, claimToHeaders: [{ expr: 'claims.sub', header: 'x-sub' }] },
    extAuthz: {
      destinationId: 'authz',
      decisionTimeout: '50ms',
      includeBody: true,
      onAllow: { copyToUpstream: ['x-user'] },
    },
    extProc: {
      destinationId: 'proc',
      mode: 'http',
      phaseTimeout: '50ms',
      allowOnError: true,
      phases: { requestBody: 'bufferedPartial', responseBody: 'none', maxBodyBytes: 4_096 },
    },
  };
  for (const [type, block] of Object.entries(middlewares))
    await api.create('middlewares', { id: type, name: type, type, [type]: block });
  const { extAuthz, extProc } = middlewares;
  const overGrpc = {
    extAuthz: { ...extAuthz, destinationId: 'authzOverGrpc', mode: 'grpc' },
    extProc: { ...extProc, destinationId: 'procOverGrpc', mode: 'grpc' },
  };
  for (const [type, block] of Object.entries(overGrpc))
    await api.create('middlewares', { id: `${type}OverGrpc`, name: `${type}OverGrpc`, type, [type]: block });
  const forward = {
    destinations: [{ destinationId: 'main' }],
    timeouts: { request: '120ms' },
    retry: { attempts: 2, perAttemptTimeout: '50ms', backoff: { base: '2ms' } },
    mirror: { destinationId: 'mirror', percentage: 20 },
  };
  await api.create('routes', {
    name: 'all',
    match: { pathPrefix: '/all' },
    forward,
    middlewareIds: Object.keys(middlewares),
  });
  await api.create('routes', {
    name: 'grpc',
    match: { pathPrefix: '/grpc' },
    forward,
    middlewareIds: Object.keys(middlewares).map((type) => (type in overGrpc ? `${type}OverGrpc` : type)),
  });
  await api.create('routes', { name: 'plain', forward });
  await api.activateAs('soak');
}

/** Milliseconds that a client waits. */
const patience = [0, 2, 20, 150, 150, 150];

function overHttp1(port: number, path: string, headers: string, body: string): Promise<string> {
  return new Promise((resolve) => {
    const kind = anyOf(['whole', 'whole', 'whole', 'torn', 'upgrade']);
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    let text = '';
    const timer = setTimeout(() => socket.resetAndDestroy(), calm ? 5_000 : anyOf(patience));
    socket.on('data', (chunk: string) => {
      text = (text + chunk).slice(0, 200);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(text);
    });
    const upgrade = !calm && kind === 'upgrade';
    const length = !calm && kind === 'torn' ? body.length + 10 : body.length;
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: soak\r\nConnection: ${upgrade ? 'upgrade\r\nUpgrade: x' : 'close'}\r\n` +
        `Content-Length: ${length}\r\n${headers}\r\n${body}`,
      'latin1',
    );
  });
}

class Http2Sessions {
  readonly #origin: string;
  #session: ClientHttp2Session | undefined;

  constructor(port: number) {
    this.#origin = `http://127.0.0.1:${port}`;
  }

  ask(path: string, headers: Record<string, string>, body: string): Promise<number> {
    if (this.#session === undefined || this.#session.closed || this.#session.destroyed || random() < 0.002) {
      this.close();
      this.#session = http2.connect(this.#origin);
      this.#session.on('error', () => {});
    }
    const stream = this.#session.request({ ':method': 'POST', ':path': path, ...headers }, { endStream: false });
    let status = 0;
    stream.on('response', (fields) => {
      status = Number(fields[':status']);
    });
    stream.on('error', () => {});
    if (calm || random() < 0.9) stream.resume();
    const timer = setTimeout(() => stream.resume().close(8), calm ? 5_000 : anyOf(patience));
    if (calm || random() < 0.95) stream.end(body);
    else stream.write('only this');
    return new Promise((resolve) => {
      stream.on('close', () => {
        clearTimeout(timer);
        resolve(status);
      });
    });
  }

  close(): void {
    if (anyOf([true, false])) this.#session?.destroy();
    else this.#session?.close();
  }
}

async function soak(): Promise<boolean> {
  const gauged = await gaugedSluice();
  const api = apiClient(gauged.sluice.url);
  const port = await freePort();
  const by = signerOf('ES256');
  const token = tokenOf(by, { iss: 'https://soak.test/', exp: inAnHour(), sub: 'ann' }, {});
  await configure(api, port, join(gauged.sluice.storePath, 'logs', 'access.log'), jwksOf(by.jwk));
  const seen: Sample[] = [];
  let done = 0;
  const client = async (): Promise<void> => {
    const session = new Http2Sessions(port);
    while (done < exchanges) {
      done++;
      const path = anyOf(values.all ? ['/all', '/grpc'] : ['/all', '/grpc', '/plain', '/plain']);
      const body = 'x'.repeat(anyOf(bodies));
      if (random() < 0.5) await overHttp1(port, path, `Authorization: Bearer ${token}\r\n`, body);
      else await session.ask(path, { authorization: `Bearer ${token}` }, body);
    }
    session.close();
  };
  const all = Promise.all(Array.from({ length: clients }, client));
  for (let i = 1; i <= samples; i++) {
    while (done < (exchanges * i) / samples) await later(50);
    const { rss, descriptors, threads } = await gauged.held();
    const handles = threads.flatMap(({ handles: of }) => Object.values(of)).reduce((sum, count) => sum + count, 0);
    seen.push({ at: i / samples, rss, descriptors, handles });
    const heaps = threads.reduce((sum, { heapUsed, external }) => sum + heapUsed + external, 0);
    console.log(
      `${done} exchanges: RSS ${mib(rss)}, heaps ${mib(heaps)}, ${descriptors} open files, ${handles} handles`,
    );
  }
  await all;
  calm = true;
  const unserved = await eventually(() => calmVisits(port, token)).catch((error: Error) => error.message);
  if (unserved !== undefined) console.error(`a calm client was answered ${unserved}`);
  await gauged.sluice.stop();
  const grown = growths(seen);
  for (const { what, early, late, bound } of grown) {
    const shown = (value: number): string => (what === 'RSS' ? mib(value) : value.toFixed(0));
    console.log(`${what}: ${shown(early)} early, ${shown(late)} late, at most ${shown(bound)}`);
  }
  const passed = unserved === undefined && grown.every(({ late, bound }) => late <= bound);
  console.log(passed ? 'soak: passed' : 'soak: failed');
  return passed;
}

/** Rejects when one of them is not served. */
async function calmVisits(port: number, token: string): Promise<undefined> {
  for (let i = 0; i < 20; i++) {
    const answer = await overHttp1(port, i % 2 === 0 ? '/all' : '/grpc', `Authorization: Bearer ${token}\r\n`, 'x');
    if (!answer.startsWith('HTTP/1.1 200')) throw new Error(JSON.stringify(answer));
  }
  return undefined;
}

const mib = (bytes: number): string => `${(bytes / (1 << 20)).toFixed(1)} MiB`;

process.once('SIGINT', () => process.exit(130));
process.once('exit', endAll);
const passed = await soak();
process.exit(passed ? 0 : 1);
