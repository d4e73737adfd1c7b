// A proxy with a fixed configuration, for the benchmark to start: `node sluice.ts '<wish as JSON>'`.

import { createPrivateKey, createPublicKey } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { Logger } from '../../../src/telemetry/logger.ts';
import type { Clock } from '../../../src/util/clock.ts';
import { inAnHour, jwksOf, signer, tokenOf } from '../../support/tokens.ts';
import { settingsOf } from '../data-plane-settings.ts';

export interface SluiceWish {
  readonly port: number;
  readonly upstreamPort: number;
  readonly routes: number;
  readonly workers: number;
  /** Root of the tree whose proxy is to run. */
  readonly tree: string;
  readonly http2: boolean;
  /** The upstream speaks HTTP/2 in cleartext. */
  readonly upstreamHttp2: boolean;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly features: readonly Feature[];
  /** Port of the service that middlewares ask. */
  readonly servicePort: number;
  /** Port whose connections are accepted and never read. */
  readonly deafPort: number;
  /** Folder for what it writes. */
  readonly folder: string;
}

/**
 * Feature that is on beside forwarding. `policies`: retries, breaker, outlier detection and health checks. `common`: the
 * middlewares headers, cors and rateLimit. `traces`: 1 % of them, `no-traces`: none, `all-traces`:
 * each. The others are one middleware each, and `metrics`. `mirror`: copies go to a port that is never read.
 * `mirror-compare`: they go to the upstream again, and responses are compared. `reloads`: 50 times a second another
 * route changes. `tcp`: the bytes of connections go on, by a stream route.
 */
export type Feature =
  | 'policies'
  | 'metrics'
  | 'traces'
  | 'all-traces'
  | 'no-traces'
  | 'common'
  | 'jwt'
  | 'log'
  | 'authz-http'
  | 'authz-grpc'
  | 'proc'
  | 'mirror'
  | 'mirror-compare'
  | 'reloads'
  | 'tcp'
  | 'compress';

/** Key made for the benchmark, which signs its tokens. */
const privateKey = createPrivateKey({
  key: Buffer.from(`302e020100300506032b657004220420${'07'.repeat(32)}`, 'hex'),
  format: 'der',
  type: 'pkcs8',
});
const author = signer('EdDSA', { publicKey: createPublicKey(privateKey), privateKey }, null, {});

export const token = (): string => tokenOf(author, { iss: 'bench', exp: inAnHour(), sub: 'ann', roles: ['a', 'b'] });

const logged = {
  ...{ id: '${id}', method: '${request.method}', path: '${request.path}', host: '${request.host}' },
  ...{ client: '${request.clientIp}', agent: '${request.header.user-agent}', status: '${response.status}' },
  ...{ bytes: '${response.bytes}', us: '${duration.us}', route: '${route.name}' },
};

const middlewaresOf = (folder: string): Readonly<Record<Feature, readonly object[]>> => ({
  policies: [],
  metrics: [],
  traces: [],
  'all-traces': [],
  'no-traces': [],
  mirror: [],
  'mirror-compare': [],
  reloads: [],
  tcp: [],
  compress: [{ type: 'compress', compress: { algorithms: ['gzip'], levels: { gzip: 6 } } }],
  common: [
    {
      type: 'headers',
      headers: {
        requestHeadersToAdd: [{ key: 'X-Tenant', value: '${request.host}' }],
        responseHeadersToAdd: [{ key: 'X-Frame-Options', value: 'DENY' }],
      },
    },
    { type: 'cors', cors: { allowOrigins: [{ value: 'https://a.test' }] } },
    { type: 'rateLimit', rateLimit: { requestsPerSecond: 1e6, burst: 1e6 } },
  ],
  jwt: [
    {
      type: 'jwt',
      jwt: {
        issuer: 'bench',
        jwksInline: jwksOf(author.jwk),
        claimToHeaders: [{ expr: 'claims.sub', header: 'X-User' }],
      },
    },
  ],
  log: [{ type: 'accessLog', accessLog: { path: `${folder}/access.log`, json: true, onResponse: { fields: logged } } }],
  'authz-http': [{ type: 'extAuthz', extAuthz: { destinationId: 'service', mode: 'http' } }],
  'authz-grpc': [{ type: 'extAuthz', extAuthz: { destinationId: 'service', mode: 'grpc' } }],
  proc: [
    {
      type: 'extProc',
      extProc: {
        destinationId: 'service',
        mode: 'grpc',
        phaseTimeout: '5s',
        phases: { requestBody: 'buffered', responseBody: 'buffered' },
      },
    },
  ],
});

interface BenchConfig {
  readonly [kind: string]: readonly object[];
  readonly routes: readonly { readonly id: string; readonly match: object }[];
}

function configOf(wish: SluiceWish): BenchConfig {
  const { features, tls } = wish;
  const on = (feature: Feature): boolean => features.includes(feature);
  const known = middlewaresOf(wish.folder);
  const middlewares = features
    .flatMap((feature) => known[feature])
    .map((middleware, i) => ({ id: `m${i}`, name: `m${i}`, ...middleware }));
  const chain = middlewares.length > 0 ? { middlewareIds: middlewares.map(({ id }) => id) } : {};
  const forward = {
    destinations: [{ destinationId: 'd' }],
    ...(on('policies') && { retry: { attempts: 2 } }),
    ...(on('mirror') && { mirror: { destinationId: 'deaf' } }),
    ...(on('mirror-compare') && { mirror: { destinationId: 'd', compare: { body: 'bytes', maxBytes: '1MiB' } } }),
  };
  const looking = on('policies') ? { circuitBreaker: {}, outlierDetection: {}, healthCheck: { path: '/' } } : {};
  const options = { ...looking, ...(wish.upstreamHttp2 && { http2: true }) };
  const routes = Array.from({ length: wish.routes - 1 }, (_, i) => ({
    // Ascending, as a control plane gives them.
    ...{
      id: `r${String(i).padStart(6, '0')}`,
      name: `r${i}`,
      match: { pathPrefix: `/service-${i}/api` },
      forward,
      ...chain,
    },
  }));
  return {
    listeners: [
      {
        ...{ id: 'l', name: 'l', address: '127.0.0.1', port: wish.port, http2: wish.http2 },
        ...(tls && { tls }),
        ...(on('metrics') && { metrics: {} }),
        ...(on('tcp') && { protocol: 'tcp' }),
      },
    ],
    destinations: [
      { id: 'd', name: 'd', host: '127.0.0.1', port: wish.upstreamPort, options },
      { id: 'deaf', name: 'deaf', host: '127.0.0.1', port: wish.deafPort },
      { id: 'service', name: 'service', host: '127.0.0.1', port: wish.servicePort },
    ],
    routes: [...routes, { id: 's-rest', name: 'rest', match: { pathPrefix: '/' }, forward, ...chain }],
    groups: [],
    middlewares,
    ...(on('tcp') && { streamRoutes: [{ id: 's', name: 's', forward }] }),
  };
}

const ratios: Partial<Record<Feature, number>> = { 'all-traces': 1, traces: 0.01, 'no-traces': 0 };

/** Spans go to the service, which takes everything. */
async function tracesOf({ features, servicePort, tree }: SluiceWish, parts: { clock: Clock; logger: Logger }) {
  const sampleRatio = features.map((feature) => ratios[feature]).find((ratio) => ratio !== undefined);
  if (sampleRatio === undefined) return undefined;
  const path = `${tree}/src/telemetry/traces/exporting.ts`;
  const { openTraces }: typeof import('../../../src/telemetry/traces/exporting.ts') = await import(path);
  const endpoint = `http://127.0.0.1:${servicePort}/v1/traces`;
  const names = { serviceName: 'bench', serviceVersion: '0', instanceId: 'bench' };
  return openTraces({ ...parts, ...names, endpoint, headers: {}, sampleRatio });
}

/** 50 a second. */
const reloadEveryMs = 20;
/** Place of a route that no reload changes. */
const keptRoute = 500;

async function serve(wish: SluiceWish): Promise<void> {
  const from = <M>(path: string): Promise<M> => import(`${wish.tree}/src/${path}`);
  // A tree from before had it at its top.
  const clock = existsSync(`${wish.tree}/src/clock.ts`) ? 'clock.ts' : 'util/clock.ts';
  const { systemClock } = await from<typeof import('../../../src/util/clock.ts')>(clock);
  const { createProxy } = await from<typeof import('../../../src/proxy/proxy.ts')>('proxy/proxy.ts');
  const { silentLogger } = await from<typeof import('../../../src/telemetry/logger.ts')>('telemetry/logger.ts');
  // As the program does it; a tree from before it did has no such file.
  if (existsSync(`${wish.tree}/src/young-generation.ts`)) {
    const young = await from<typeof import('../../../src/young-generation.ts')>('young-generation.ts');
    young.collectYoungAlone();
  }
  let snapshot = configOf(wish);
  let publish = (_index: number): void => {};
  let index = 1;
  const change = (): void => {
    const { routes } = snapshot;
    // The one that the load asks for stays; the last one takes what no other does.
    const place = index % Math.max(1, Math.min(routes.length - 1, keptRoute));
    const route = { ...routes[place], id: routes[place]?.id ?? '', match: { pathPrefix: `/changed-${++index}` } };
    snapshot = { ...snapshot, routes: routes.with(place, route) };
    publish(index);
  };
  const traces = await tracesOf(wish, { clock: systemClock, logger: silentLogger });
  const proxy = createProxy({
    clock: systemClock,
    ...(await settingsOf(wish.tree, wish.workers)),
    telemetry: { logger: silentLogger, traces },
    onSettled: ({ problems }) => {
      if (problems.length > 0) console.log(JSON.stringify(problems));
    },
    source: {
      subscribe(subscriber) {
        const about = { id: 'bench', name: 'bench', createdAt: '2026-01-01T00:00:00Z' };
        publish = (index) => subscriber({ ...about, index, snapshot } as unknown as Parameters<typeof subscriber>[0]);
        publish(1);
        return () => {};
      },
    },
  });
  await proxy.start();
  if (wish.features.includes('reloads')) setInterval(() => change(), reloadEveryMs);
  // A profile is written on exit only.
  process.once('SIGTERM', () => process.exit(0));
}

if (process.argv[1] === import.meta.filename) await serve(JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')));
