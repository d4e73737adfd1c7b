import fc from 'fast-check';
import type { EditableKind } from '../../src/model/kinds.ts';
import { secretHashes } from './password-hashes.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Unknown fields that a test adds begin like this, so that it knows that they may be dropped. */
export const unknownPrefix = 'zz';

/** A placeholder of contract.md §8.0, which is no template literal. */
const interpolated = (name: string): string => `\${${name}}`;

const headers: Json = [
  { name: 'x-tenant', value: 'a' },
  { name: 'x-tenant', value: '^b+$', regex: true },
];
const retry: Json = {
  attempts: 2,
  perAttemptTimeout: '1s',
  on: ['gateway-error', 'retriable-codes'],
  retriableCodes: [429],
  grpcCodes: ['unavailable'],
  budgetPercent: 20,
  backoff: { base: '50ms', max: '2s' },
};
const headersEdits: Json = {
  interpolate: false,
  requestHeadersToAdd: [{ key: 'x-a', value: interpolated('request.path'), append: true, interpolate: true }],
  requestHeadersToRemove: ['x-b'],
  responseHeadersToAdd: [{ key: 'x-c', value: 'd', when: 'response.status == 200' }],
  responseHeadersToRemove: ['server'],
};
const overrides: Json = {
  m1: { skipWhen: ['request.path == "/x"'] },
  m2: { disabled: true },
  m3: { onlyWhen: ['true'] },
};

const errorPages: Json[] = [
  { statuses: ['404', '502-504'], bodyFrom: { text: 'b' }, contentType: 'text/plain', upstream: true },
];

/** One body per kind, or several, in which every field of contract.md §2 and §8 occurs. */
export const samples: Readonly<Record<EditableKind, readonly Json[]>> = {
  listeners: [
    {
      name: 'n',
      address: '::1',
      port: 8443,
      tls: {
        cert: '-----BEGIN CERTIFICATE-----',
        key: '{{secret:value:key}}',
        certificates: [{ cert: 'c', key: '{{secret:env:KEY}}', serverNames: ['shop.example'] }],
        unknownServerName: 'reject',
        strictServerName: true,
        minVersion: 'TLSv1_2',
        maxVersion: 'TLSv1_3',
        clientAuth: { mode: 'require', ca: 'pem' },
      },
      http2: true,
      http2Options: { maxConcurrentStreams: 100, maxResetsPerSecond: 10 },
      serverName: 'sluice',
      maxRequestHeadersKB: 64,
      timeouts: {
        clientHeader: '5s',
        clientRequest: '0',
        clientResponse: '1m',
        idleBetweenRequests: '1h30m',
        idleTunnel: '1h',
      },
      metrics: {
        path: '/metrics',
        collect: { route: true, destination: false, endpoint: true, middleware: true, listener: false },
        histograms: { durationBuckets: [0.1, 1, 10], sizeBuckets: [1, 2] },
      },
      proxyErrors: { detail: 'full' },
      trustedProxies: ['10.0.0.0/8', '::1'],
      pathNormalization: 'report',
      maxRequestHeaders: 100,
      debugHeaders: true,
      sections: [{ name: 'shop', hostnames: ['shop.example', '*.shop.example'] }, { name: 'rest' }],
    },
    { name: 'n', port: 80, redirectToHttps: { port: 8443, code: 307 }, errorPages },
    { name: 'n', port: 443, protocol: 'tcp', tls: { mode: 'passthrough' } },
  ],
  destinations: [
    {
      name: 'n',
      host: 'upstream.example',
      port: 8080,
      endpoints: [
        { host: '10.0.0.1', port: 1, weight: 3, priority: 1 },
        { host: '[::1]', port: 65535 },
      ],
      options: {
        timeouts: {
          request: '30s',
          connect: '1s',
          dualStackFallback: '0s',
          tlsHandshake: '2s',
          responseHeader: '3s',
          expectContinue: '1s',
          idleConnection: '1m',
        },
        endpointBalancing: {
          algorithm: 'RING_HASH',
          ringHash: {
            ringSize: { min: 10, max: 1000 },
            hashPolicy: [
              { header: { name: 'x-user' } },
              { cookie: { name: 'c', ttl: '1h' } },
              { sourceIP: { enabled: true } },
            ],
          },
        },
        circuitBreaker: {
          maxConnections: 1,
          maxPendingRequests: 2,
          maxRequests: 3,
          maxRetries: 4,
          failureThreshold: 0,
          openDuration: '10s',
        },
        healthCheck: {
          type: 'http',
          path: '/health',
          grpcService: 's',
          expectedStatuses: ['200', '300-399'],
          interval: '1s',
          timeout: '1s',
          unhealthyThreshold: 2,
          healthyThreshold: 1,
        },
        outlierDetection: {
          consecutive5xx: 5,
          consecutiveGatewayErrors: 1,
          interval: '1s',
          baseEjectionTime: '1s',
          maxEjectionPercent: 50,
        },
        discovery: { type: 'kubernetes' },
        tls: {
          mode: 'mtls',
          cert: 'c',
          key: 'k',
          ca: 'a',
          sni: 'sni.example',
          subjectAltNames: [
            { type: 'dns', value: '*.up.example' },
            { type: 'uri', value: 'spiffe://a/up' },
          ],
          minVersion: 'TLSv1_2',
          maxVersion: 'TLSv1_3',
        },
        http2: true,
        maxConnsPerHost: 10,
      },
    },
    {
      name: 'n',
      host: '10.0.0.1',
      port: 80,
      options: {
        endpointBalancing: {
          algorithm: 'MAGLEV',
          maglev: { tableSize: 65537, hashPolicy: [{ sourceIP: { enabled: false } }] },
          leastRequest: { choiceCount: 3 },
          sticky: { cookie: { name: 's', ttl: '1h', signed: true } },
        },
      },
    },
  ],
  routes: [
    {
      name: 'n',
      match: {
        pathPrefix: '/shop',
        methods: ['GET', 'post'],
        hostnames: ['shop.example', '*.shop.example'],
        headers,
        queryParams: [{ name: 'q', value: '' }],
        grpc: false,
        cel: 'request.method == "GET"',
      },
      forward: {
        destinations: [
          { destinationId: 'a', weight: 90 },
          { destinationId: 'b', weight: 10 },
        ],
        destinationBalancing: { algorithm: 'STICKY', sticky: { cookie: { name: 'p', ttl: '2h', signed: false } } },
        timeouts: { request: '10s' },
        retry,
        rewrite: { pathRegex: { pattern: '^/v(\\d+)/(.*)$', substitution: '/\\2' }, host: 'other.example' },
        mirror: { destinationId: 'c', percentage: 0 },
        maxGrpcTimeout: '0s',
      },
      middlewareIds: ['m1', 'm2', 'm3'],
      middlewareOverrides: overrides,
    },
    {
      name: 'n',
      forward: {
        failover: false,
        destinations: [
          { destinationId: 'a', weight: 1, headers: headersEdits, rewrite: { path: '/b' } },
          { directResponse: { status: 503, body: 'x' }, weight: 0 },
        ],
        timeouts: { perAttempt: '2s' },
        headers: headersEdits,
        mirrors: [{ destinationId: 'c', fraction: { numerator: 1, denominator: 1000 } }],
      },
    },
    {
      name: 'n',
      match: { pathRegex: '^/a/[0-9]+' },
      redirect: { scheme: 'https', host: 'x.example:8443', path: '/y', stripQuery: true, code: 308 },
    },
    { name: 'n', match: { path: '/x' }, directResponse: { status: 204, body: 'a {{secret:env:A}} b' } },
    {
      name: 'n',
      directResponse: {
        status: 200,
        bodyFrom: { text: 'a' },
        headers: [{ key: 'cache-control', value: 'no-cache' }],
        contentType: 'text/plain',
      },
      errorPages,
    },
  ],
  groups: [
    {
      name: 'n',
      routeIds: ['r1', 'r2'],
      pathPrefix: '/api',
      hostnames: ['a.example'],
      headers,
      middlewareIds: ['m1'],
      middlewareOverrides: overrides,
      retryDefault: retry,
      includeAttemptCount: true,
    },
    { name: 'n', pathRegex: '/v[0-9]+' },
  ],
  middlewares: [
    {
      name: 'n',
      type: 'cors',
      cors: {
        allowOrigins: [{ value: '*' }, { value: 'https://.*', regex: true }],
        allowMethods: ['GET'],
        allowHeaders: ['x-a'],
        exposeHeaders: ['x-b'],
        maxAge: 60,
        allowCredentials: true,
      },
    },
    {
      name: 'n',
      type: 'compress',
      compress: {
        algorithms: ['gzip'],
        minBytes: 1,
        types: ['text/*'],
        levels: { gzip: 1, br: 1, zstd: 1 },
        upstreamAcceptEncoding: 'strip',
        decompressRequest: { maxRatio: 10, maxBytes: 1000 },
      },
    },
    {
      name: 'n',
      type: 'basicAuth',
      basicAuth: {
        users: `ann:${secretHashes.bcrypt}`,
        realm: 'shop',
        userHeader: 'x-user',
        forwardAuthorization: true,
        consumers: true,
      },
    },
    {
      name: 'n',
      type: 'apiKey',
      apiKey: {
        sources: { header: 'x-api-key', query: 'api_key', cookie: 'api_key' },
        forwardKey: true,
        consumerHeader: 'x-consumer',
      },
    },
    { name: 'n', type: 'rateLimit', rateLimit: { requestsPerSecond: 0.5, burst: 3, trustedProxies: ['10.0.0.0/8'] } },
    {
      name: 'n',
      type: 'rateLimit',
      rateLimit: {
        key: 'request.path',
        cost: '2',
        limits: [{ requests: 10, per: '1m', burst: 20 }],
        scope: 'process',
      },
    },
    { name: 'n', type: 'rateLimit', rateLimit: { scope: 'redis', failureMode: 'deny', burst: 3 } },
    { name: 'n', type: 'grpcWeb', grpcWeb: {} },
    {
      name: 'n',
      type: 'headers',
      headers: {
        requestHeadersToAdd: [{ key: 'x-a', value: interpolated('request.path'), append: true, when: 'true' }],
        requestHeadersToRemove: ['x-b'],
        responseHeadersToAdd: [{ key: 'x-c', value: 'd', when: 'response.status == 200' }],
        responseHeadersToRemove: ['server'],
      },
    },
    {
      name: 'n',
      type: 'jwt',
      jwt: {
        issuer: 'https://issuer.example',
        audiences: ['a'],
        jwksPath: '/jwks',
        jwksDestinationId: 'd',
        jwksRetrievalTimeout: '1s',
        forwardJwt: true,
        claimToHeaders: [{ expr: 'claims.sub', header: 'x-sub' }],
        assertClaims: ['claims.admin == true'],
      },
    },
    {
      name: 'n',
      type: 'extAuthz',
      extAuthz: {
        destinationId: 'd',
        mode: 'grpc',
        protocol: 'envoy',
        path: '/check',
        decisionTimeout: '1s',
        failureModeAllow: true,
        includeBody: true,
        onCheck: { forwardHeaders: ['x-*'], injectHeaders: [{ key: 'x-p', value: interpolated('request.path') }] },
        onAllow: { copyToUpstream: ['x-user*'], copyToClient: ['x-r'] },
        onDeny: { copyToClient: ['x-why'] },
      },
    },
    {
      name: 'n',
      type: 'extProc',
      extProc: {
        destinationId: 'd',
        mode: 'http',
        protocol: 'sluice',
        allowModeOverride: true,
        maxPhaseTimeout: '1s',
        phaseTimeout: '100ms',
        phases: {
          requestHeaders: 'skip',
          responseHeaders: 'send',
          requestBody: 'buffered',
          responseBody: 'streamed',
          maxBodyBytes: 10,
        },
        allowOnError: true,
        statusOnError: 503,
        allowedMutations: { allowHeaders: ['x-*'], denyHeaders: ['x-no'] },
        forwardRules: { allowHeaders: ['x-*'], denyHeaders: ['cookie'] },
        disableReject: true,
        observeMode: { enabled: true, workers: 1, queueSize: 2 },
        metricsPrefix: 'p',
      },
    },
    {
      name: 'n',
      type: 'accessLog',
      accessLog: {
        path: 'stdout',
        json: true,
        onRequest: { fields: { id: interpolated('id') } },
        onResponse: { fields: { s: interpolated('response.status') } },
      },
    },
    {
      name: 'n',
      type: 'inlineAuthz',
      inlineAuthz: {
        rules: [{ cel: 'request.path.startsWith("/a")', action: 'allow' }],
        defaultAction: 'deny',
        denyStatus: 404,
        denyBody: 'no',
      },
    },
  ],
  streamRoutes: [
    {
      name: 'n',
      match: { listenerIds: ['tcp', 'tcp/db'], sni: ['db.example.com', '*.example.com'], clientCidrs: ['10.0.0.0/8'] },
      forward: { destinations: [{ destinationId: 'd', weight: 1 }], timeouts: { idle: '10m' } },
      middlewareIds: ['log'],
    },
  ],
  consumers: [
    {
      name: 'n',
      labels: { plan: 'gold' },
      credentials: [
        { type: 'apiKey', key: `sha256:${'0af'.repeat(21)}0` },
        { type: 'basic', username: 'ann', passwordHash: secretHashes.bcrypt },
        { type: 'jwt', issuer: 'https://login.example.com', subject: 'ann' },
      ],
    },
    { name: 'n', credentials: [{ type: 'basic', username: 'bob', passwordHash: secretHashes.scrypt }] },
    { name: 'n', credentials: [{ type: 'jwt', issuer: 'https://login.example.com', subject: 'bob' }] },
  ],
  secrets: [
    { name: 'n', value: 'v' },
    { id: 'chosen', name: 'n', value: 'multi\nline {{secret:value:x}}' },
  ],
};

const strange: readonly Json[] = [
  null,
  '',
  0,
  -0,
  -1,
  1,
  1.5,
  1e300,
  4294967295,
  4294967296,
  99999,
  true,
  false,
  [],
  {},
  [null],
  [''],
  [[]],
  { [`${unknownPrefix}a`]: 1 },
  'x',
  ' ',
  'ü\u{1f600}',
  '\u0000',
  'a\r\nb',
  '{{secret:value:x}}',
  '{{secret:',
  '5s',
  '-5s',
  '1d',
  '[',
  '(a+)+$',
  '(?=a)',
  '1 +',
  'request.x == ',
  '/../..',
  '*',
  '10.0.0.0/99',
  'TLSv1_3',
  'STICKY',
  'a'.repeat(9000),
  '__proto__',
  'constructor',
];

interface Change {
  readonly at: number;
  readonly how: 'replace' | 'delete' | 'add';
  readonly value: Json;
}

const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(10_000),
  how: fc.constantFrom('replace', 'delete', 'add'),
  value: fc.oneof(
    fc.constantFrom(...strange),
    fc.string({ maxLength: 12, unit: 'grapheme' }),
    fc.integer({ min: -5, max: 70_000 }),
  ),
});

/** A body of the kind that is right, or wrong in one to three places. */
export const bodyOf = (kind: EditableKind): fc.Arbitrary<Json> =>
  fc
    .tuple(fc.constantFrom(...samples[kind]), fc.array(change, { maxLength: 3 }))
    .map(([sample, changes]) => changes.reduce(changed, structuredClone(sample)));

function changed(root: Json, { at, how, value }: Change): Json {
  const places = placesIn(root);
  const place = places[at % places.length];
  if (place === undefined) return value;
  const { parent, key } = place;
  if (how === 'add' && !Array.isArray(parent)) parent[`${unknownPrefix}${at}`] = structuredClone(value);
  else if (how === 'delete') remove(parent, key);
  else set(parent, key, structuredClone(value));
  return root;
}

interface Place {
  readonly parent: Json[] | { [key: string]: Json };
  readonly key: string;
}

function placesIn(value: Json): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => [{ parent: value, key }, ...placesIn(part)]);
}

function set(parent: Place['parent'], key: string, value: Json): void {
  if (Array.isArray(parent)) parent[Number(key)] = value;
  else parent[key] = value;
}

function remove(parent: Place['parent'], key: string): void {
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[key];
}
