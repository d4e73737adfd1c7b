// Clients and upstreams whose every exchange proves whose it is (test/go, `mix`), with a Sluice of two workers between them
// that is activated again and again, with all that holds, copies or repeats a message: pools that wait, retries, mirrors,
// CEL on bodies, services that are asked.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ApiClient, apiClient } from './api-client.ts';
import { eventually } from './eventually.ts';
import { ForeignProgram, goProgram } from './foreign-program.ts';
import { freePort } from './free-port.ts';
import { makeCertificate } from './made-certificates.ts';
import { type MixedPorts, MixedServices } from './mixed-services.ts';
import { newFolder, startSluice } from './sluice-process.ts';

export interface MixedRun {
  readonly seed: number;
  readonly seconds: number;
  /** True where upstreams cut connections that others use; otherwise every exchange has to succeed. */
  readonly rough: boolean;
}

export interface MixedOutcome {
  /** Exchanges that got bytes of another one, were cut, or did not end. */
  readonly failures: readonly string[];
  /** Number of exchanges of each kind. */
  readonly counts: Readonly<Record<string, number>>;
  readonly activations: number;
  /** Errors that the upstream met on connections of HTTP/2 and their streams, with their counts. */
  readonly complaints: Readonly<Record<string, number>>;
}

export async function mixedExchanges({ seed, seconds, rough }: MixedRun): Promise<MixedOutcome> {
  const certificate = makeCertificate({ dnsNames: ['upstream.test'] });
  const folder = newFolder();
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(certFile, certificate.cert);
  writeFileSync(keyFile, certificate.key);
  const upstream = new ForeignProgram(goProgram, ['mixup', certFile, keyFile]);
  const services = new MixedServices();
  const sluice = await startSluice({ more: 'proxy: { workers: 2, retryBufferBytes: 1000000 }' });
  try {
    const [port, mirrorPort, securePort] = await eventually(() => {
      if (upstream.lines.length < 3) throw new Error('the upstream does not serve yet');
      return upstream.lines.slice(0, 3).map(Number) as [number, number, number];
    });
    const logFile = join(sluice.storePath, 'logs', 'access.log');
    const api = apiClient(sluice.url);
    const asked = await services.start();
    const urls = await configure(api, { port, mirrorPort, securePort, authority: certificate.cert, asked, logFile });
    const mode = rough ? 'rough' : 'calm';
    const client = new ForeignProgram(goProgram, ['mix', String(seed), String(seconds), mode, ...urls]);
    let isOver = false;
    const over = client.ended().finally(() => {
      isOver = true;
    });
    over.catch(() => {});
    let activations = 0;
    while (!isOver) {
      await api.put('/middlewares/fields', fields(++activations));
      await api.put('/destinations/wait-1', waiting(port, 1, 3 + (activations % 2)));
      await api.activateAs(`v${activations}`);
      await Promise.race([over, new Promise((resolve) => setTimeout(resolve, 500))]);
    }
    const lines = (await over).split('\n');
    await sluice.stop();
    const counts = JSON.parse(lines.at(-1) ?? '') as MixedOutcome['counts'];
    const told = [...lines, ...upstream.lines, ...services.failures].filter((line) => line.startsWith('FAIL '));
    const warned = sluice.output.filter((line) => /"level":"?(error|fatal|50|60)/.test(line));
    const complaints: Record<string, number> = {};
    for (const line of upstream.lines) {
      const what = /^COMPLAINT (.*)/.exec(line)?.[1];
      if (what !== undefined) complaints[what] = (complaints[what] ?? 0) + 1;
    }
    return { failures: [...told, ...mixedLogLines(logFile), ...warned], counts, activations, complaints };
  } finally {
    await sluice.stop('SIGKILL');
    await upstream.stop();
    services.stop();
  }
}

/** Lines of an access log that are of two exchanges. */
function mixedLogLines(file: string): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !isOfOne(line))
    .map((line) => `FAIL access log ${line}`);
}

function isOfOne(line: string): boolean {
  try {
    const { path, asked, again, status, answered, last } = JSON.parse(line) as Record<string, string>;
    const id = path?.split('/').at(-1);
    if (asked !== id || again !== id || answered !== last) return false;
    return answered === id || (answered === '' && (status === '0' || Number(status) >= 400));
  } catch {
    return false;
  }
}

const destination = (id: string, port: number, options: object = {}) => ({
  ...{ id, name: id, host: '127.0.0.1', port },
  options: { timeouts: { responseHeader: '30s', connect: '20s' }, ...options },
});
const waiting = (port: number, up: number, maxConnsPerHost: number, more: object = {}) =>
  destination(`wait-${up}`, port, { http2: up % 2 === 0, maxConnsPerHost, ...more });

/** HTTP/1.1 and HTTP/2 in cleartext, and both under TLS. */
const ups = [1, 2, 3, 4];

const fields = (round: number) => ({
  ...{ id: 'fields', name: 'fields', type: 'headers' },
  headers: {
    requestHeadersToAdd: [
      { key: 'x-round', value: String(round) },
      { key: 'x-via', value: '${request.header.x-id}' },
    ],
    responseHeadersToAdd: [{ key: 'x-back', value: '${request.header.x-id}' }],
  },
});

interface Surroundings {
  readonly port: number;
  readonly mirrorPort: number;
  readonly securePort: number;
  /** Authority of the certificate at `securePort`. */
  readonly authority: string;
  readonly asked: MixedPorts;
  readonly logFile: string;
}

/** Kinds of exchanges with a middleware of the same name. */
const guarded = [
  ...['cel', 'limited', 'authz', 'authzbody', 'authzgrpc', 'buffered', 'partial', 'streamed', 'processed', 'envoy'],
];

async function configure(
  api: ApiClient,
  { port, mirrorPort, securePort, authority, asked, logFile }: Surroundings,
): Promise<string[]> {
  const [clear, both, secure] = [await freePort(), await freePort(), await freePort()];
  const own = makeCertificate({ dnsNames: ['sluice.test'] });
  await api.create('listeners', { name: 'clear', address: '127.0.0.1', port: clear });
  await api.create('listeners', { name: 'both', address: '127.0.0.1', port: both, http2: true, metrics: {} });
  await api.create('listeners', { name: 'secure', address: '127.0.0.1', port: secure, http2: true, tls: own });
  await api.create('destinations', destination('services', port));
  const tls = { tls: { mode: 'tls', ca: authority, sni: 'upstream.test' } };
  for (const up of ups) {
    const http2 = up % 2 === 0;
    const [at, secured] = up > 2 ? [securePort, tls] : [port, {}];
    await api.create('destinations', destination(`plain-${up}`, at, { http2, ...secured }));
    await api.create('destinations', destination(`mirror-${up}`, mirrorPort, { http2 }));
    await api.create('destinations', waiting(at, up, 4, secured));
  }
  const line = { path: '${request.path}', asked: '${request.header.x-id}', again: '${request.header.x-id-again}' };
  const answer = { status: '${response.status}', answered: '${response.header.x-id}' };
  const last = { last: '${response.header.x-id-last}' };
  const check = { destinationId: 'services', path: '/authz', decisionTimeout: '30s' };
  const onCheck = (...forwardHeaders: string[]) => ({
    forwardHeaders,
    injectHeaders: [{ key: 'x-injected', value: '${request.header.x-id}' }],
  });
  const decided = {
    onAllow: { copyToUpstream: ['x-authz*'] },
    onDeny: { copyToClient: ['x-id', 'x-id-last', 'x-len'] },
  };
  const phases = (how: string) => ({
    ...{ destinationId: 'services', mode: 'http', phaseTimeout: '30s' },
    phases: { requestBody: how, responseBody: how, maxBodyBytes: 4_096 },
  });
  const middlewares: Readonly<Record<string, object>> = {
    log: {
      type: 'accessLog',
      accessLog: { path: logFile, json: true, onResponse: { fields: { ...line, ...answer, ...last } } },
    },
    cors: { type: 'cors', cors: { allowOrigins: [{ value: '*' }] } },
    jwt: {
      type: 'jwt',
      jwt: {
        ...{ issuer: 'mix', jwksPath: '/jwks', jwksDestinationId: 'services' },
        claimToHeaders: [{ expr: 'claims.sub', header: 'x-sub' }],
      },
    },
    cel: {
      type: 'inlineAuthz',
      inlineAuthz: { rules: [{ cel: "request.body.raw.startsWith(request.headers['x-first'])", action: 'allow' }] },
    },
    authz: { type: 'extAuthz', extAuthz: { ...check, ...decided, onCheck: onCheck('x-id', 'x-deny') } },
    authzbody: {
      type: 'extAuthz',
      extAuthz: { ...check, ...decided, includeBody: true, onCheck: onCheck('x-id', 'x-want') },
    },
    buffered: { type: 'extProc', extProc: phases('buffered') },
    partial: { type: 'extProc', extProc: phases('bufferedPartial') },
    streamed: { type: 'extProc', extProc: phases('streamed') },
    limited: { type: 'rateLimit', rateLimit: { requestsPerSecond: 1e6, burst: 1e6 } },
    authzgrpc: {
      type: 'extAuthz',
      extAuthz: {
        ...{ destinationId: 'authorizer', mode: 'grpc', decisionTimeout: '30s' },
        ...{ onAllow: { copyToUpstream: ['x-authz*'] }, onCheck: { forwardHeaders: ['x-id'] } },
      },
    },
    processed: { type: 'extProc', extProc: { ...phases('buffered'), destinationId: 'processor', mode: 'grpc' } },
    envoy: {
      type: 'extProc',
      extProc: { ...phases('buffered'), destinationId: 'envoy', mode: 'grpc', protocol: 'envoy' },
    },
  };
  for (const [id, at] of Object.entries(asked)) await api.create('destinations', destination(id, at));
  for (const [id, block] of Object.entries(middlewares)) await api.create('middlewares', { id, name: id, ...block });
  await api.create('middlewares', fields(0));
  for (const up of ups) {
    const to = (id: string) => ({ destinations: [{ destinationId: `${id}-${up}` }] });
    const route = (kind: string, forward: object, ...middlewareIds: string[]) =>
      api.create('routes', {
        ...{ id: `${kind}-${up}`, name: `${kind}-${up}`, match: { pathPrefix: `/${up}/${kind}/` }, forward },
        middlewareIds: ['log', ...middlewareIds],
      });
    await route('plain', to('plain'));
    await route('wait', to('wait'));
    await route('mirror', { ...to('plain'), mirror: { destinationId: `mirror-${up}` } });
    await route('budget', { ...to('plain'), timeouts: { request: '120ms' } });
    await route('retry', { ...to('plain'), retry: { attempts: 4, budgetPercent: 100, backoff: { base: '2ms' } } });
    await api.create('groups', { name: `retry-${up}`, routeIds: [`retry-${up}`], includeAttemptCount: true });
    await route('fields', to('plain'), 'cors', 'fields', 'jwt');
    for (const kind of guarded) await route(kind, to('plain'), kind);
  }
  await api.activateAs('mixed');
  return [`http://127.0.0.1:${clear}`, `http://127.0.0.1:${both}`, `https://127.0.0.1:${secure}`];
}
