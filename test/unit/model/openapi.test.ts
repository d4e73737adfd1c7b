import { expect } from 'chai';
import { type Class, fieldsOf } from '../../../src/model/schema.ts';
import { SnapshotSummary } from '../../../src/model/snapshot.ts';
import { classOf } from '../../../src/model/validation.ts';
import { modelSchemas } from '../../support/openapi-document.ts';

interface Property {
  readonly description?: string;
  readonly default?: unknown;
  readonly [key: string]: unknown;
}
type Schemas = Record<string, { properties: Record<string, Property>; required?: string[] }>;

/** Every class that a resource is made of. */
const reachable = (cls: Class, seen = new Set<Class>()): Set<Class> => {
  if (seen.has(cls)) return seen;
  seen.add(cls);
  for (const { shape } of fieldsOf(cls).values()) {
    const element = shape.is === 'list' || shape.is === 'map' ? shape.of : shape;
    if (element.is === 'object') reachable(element.of, seen);
  }
  return seen;
};

const classes = [...Object.values(classOf), SnapshotSummary].reduce(
  (seen, cls) => reachable(cls, seen),
  new Set<Class>(),
);

/** Defaults as contract.md §2 and §8 and architecture.md §9 state them. */
const defaults: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  Listener: {
    sections: [],
    address: '0.0.0.0',
    protocol: 'http',
    proxyProtocol: 'off',
    http2: false,
    maxConnections: 0,
    maxRequestHeadersKB: 0,
    maxRequestHeaders: 128,
    maxRequestBodyBytes: 0,
    proxyErrors: 'standard',
    errorPages: [],
    trustedProxies: [],
    pathNormalization: 'enforce',
    duplicateQueryParams: 'allow',
    debugHeaders: false,
  },
  ListenerTls: {
    mode: 'terminate',
    minVersion: 'TLSv1_2',
    certificates: [],
    unknownServerName: 'default',
    strictServerName: false,
  },
  ErrorPage: { upstream: false },
  ListenerSection: { hostnames: [] },
  RedirectToHttps: { code: 308 },
  ListenerCertificate: { serverNames: [] },
  ListenerHttp2: { maxConcurrentStreams: 128, maxResetsPerSecond: 100 },
  ListenerClientAuth: { mode: 'none' },
  ListenerTimeouts: {
    clientHeader: '10s',
    clientRequest: '60s',
    clientResponse: '60s',
    idleBetweenRequests: '120s',
    idleTunnel: '0s',
  },
  ListenerMetrics: { path: '/metrics', onListener: true, allow: [] },
  MetricsCollect: {
    ...{ route: true, destination: true, endpoint: false, middleware: true, listener: true, consumer: false },
  },
  MetricsHistograms: {
    durationBuckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    sizeBuckets: [100, 1000, 10000, 100000, 1000000],
  },
  ListenerProxyErrors: { detail: 'standard' },
  Endpoint: { weight: 1, priority: 0 },
  DestinationOptions: { http2: false, maxConnsPerHost: 0, maxConnectionAge: '0s', lenient: [] },
  DestinationTimeouts: {
    connect: '5s',
    dualStackFallback: '300ms',
    tlsHandshake: '5s',
    responseHeader: '10s',
    expectContinue: '1s',
    idleConnection: '90s',
  },
  EndpointBalancing: { algorithm: 'ROUND_ROBIN' },
  RingSize: { min: 1024, max: 8388608 },
  RingHash: { hashPolicy: [] },
  Maglev: { tableSize: 65537, hashPolicy: [] },
  LeastRequest: { choiceCount: 2 },
  EndpointPinCookie: { name: '_sluice_endpoint_pin', ttl: '1h' },
  StickyEndpointCookie: { name: '_sluice_endpoint_pin', ttl: '1h', signed: false },
  SourceIpHash: { enabled: false },
  CircuitBreaker: {
    maxConnections: 1024,
    maxPendingRequests: 1024,
    maxRequests: 1024,
    maxRetries: 3,
    failureThreshold: 5,
    openDuration: '30s',
  },
  HealthCheck: {
    type: 'http',
    expectedStatuses: ['200-399'],
    interval: '10s',
    timeout: '5s',
    unhealthyThreshold: 3,
    healthyThreshold: 2,
  },
  OutlierDetection: {
    consecutive5xx: 5,
    consecutiveGatewayErrors: 0,
    interval: '10s',
    baseEjectionTime: '30s',
    maxEjectionPercent: 10,
  },
  DestinationTls: { mode: 'none' },
  Route: {
    errorPages: [],
    disabled: false,
    priority: 0,
    listenerIds: [],
    middlewareIds: [],
    middlewareOverrides: {},
  },
  WeightedDestination: { weight: 0 },
  StreamRoute: { middlewareIds: [] },
  Consumer: { credentials: [] },
  StreamDestination: { weight: 0 },
  StreamForward: { failover: true },
  StreamTimeouts: { idle: '1h' },
  DestinationBalancing: { algorithm: 'WEIGHTED_RANDOM' },
  DestinationPinCookie: { name: '_sluice_destination_pin', ttl: '1h' },
  StickyDestinationCookie: { name: '_sluice_destination_pin', ttl: '1h', signed: false },
  Mirror: { percentage: 100 },
  MirrorCompare: {
    ...{ status: true, headers: ['content-type'], body: 'json', maxBytes: '64KiB', latency: true, sample: 100 },
  },
  HeadersConfig: { interpolate: true },
  HeaderMatcher: { multiple: 'joined' },
  QueryParamMatcher: { multiple: 'first' },
  Fraction: { denominator: 100 },
  Forward: { failover: true },
  Discovery: { whenEmpty: 'host' },
  Retry: {
    attempts: 0,
    on: ['server-error', 'connection-failure'],
    retriableCodes: [],
    grpcCodes: [],
    budgetPercent: 20,
  },
  Backoff: { base: '100ms', max: '1s' },
  Redirect: { stripQuery: false, code: 301 },
  Group: { routeIds: [], listenerIds: [], includeAttemptCount: false },
  CorsConfig: { allowOrigins: [], maxAge: 0, allowCredentials: false },
  RateLimitConfig: { requestsPerSecond: 10, trustedProxies: [], scope: 'process', failureMode: 'process' },
  HeaderToAdd: { append: false },
  ResponseHeaderToAdd: { append: false },
  JwtConfig: { audiences: [], jwksRetrievalTimeout: '10s', forwardJwt: false },
  ExtAuthzConfig: {
    protocol: 'sluice',
    mode: 'http',
    decisionTimeout: '5s',
    failureModeAllow: false,
    includeBody: false,
  },
  ExtAuthzOnCheck: { forwardHeaders: [], injectHeaders: [] },
  ExtAuthzOnAllow: { copyToUpstream: [], copyToClient: [] },
  ExtAuthzOnDeny: { copyToClient: [] },
  ExtProcConfig: {
    protocol: 'sluice',
    allowModeOverride: false,
    mode: 'grpc',
    phaseTimeout: '200ms',
    allowOnError: false,
    statusOnError: 500,
    disableReject: false,
  },
  ExtProcPhases: {
    requestHeaders: 'send',
    responseHeaders: 'send',
    requestBody: 'none',
    responseBody: 'none',
    maxBodyBytes: 1048576,
  },
  ObserveMode: { enabled: false, workers: 64, queueSize: 4096 },
  AccessLogConfig: { json: false },
  BasicAuthConfig: { realm: 'restricted', forwardAuthorization: false, consumers: false },
  ApiKeyConfig: { forwardKey: false },
  CompressConfig: {
    algorithms: ['zstd', 'br', 'gzip'],
    minBytes: 1024,
    types: ['text/*', 'application/json', 'application/javascript', 'image/svg+xml'],
    upstreamAcceptEncoding: 'keep',
  },
  CompressLevels: { gzip: 6, br: 4, zstd: 3 },
  DecompressRequest: { maxRatio: 100, maxBytes: 10_485_760 },
  InlineAuthzConfig: { defaultAction: 'deny', denyStatus: 403, denyBody: '{"error":"access denied"}' },
};

describe('the OpenAPI schemas of resources', () => {
  let schemas: Schemas;
  before(async () => {
    schemas = (await modelSchemas()) as Schemas;
  });

  it('are one per class, under a name that no other class has', () => {
    expect(Object.keys(schemas)).to.have.members([...classes].map(({ name }) => name));
  });

  for (const cls of classes) {
    it(`describe every field of ${cls.name}`, () => {
      const properties = schemas[cls.name]?.properties ?? {};
      expect(Object.keys(properties)).to.deep.equal([...fieldsOf(cls).keys()]);
      for (const [name, { description }] of Object.entries(properties))
        expect(description, name).to.match(/^.{10,}\.$/s);
    });

    it(`name the required fields of ${cls.name}`, () => {
      const required = [...fieldsOf(cls).values()].filter((field) => field.required).map(({ name }) => name);
      expect(schemas[cls.name]?.required ?? []).to.have.members(required);
    });
  }

  for (const [name, fields] of Object.entries(defaults)) {
    it(`show the defaults of ${name}`, () => {
      for (const [field, value] of Object.entries(fields)) {
        expect(schemas[name]?.properties[field]?.default, field).to.deep.equal(value);
      }
    });
  }

  it('show no default that the contract does not state', () => {
    const matchers = ['HeaderMatcher', 'QueryParamMatcher', 'AllowOrigin', 'Match', 'Rewrite', 'MiddlewareOverride'];
    for (const [name, { properties }] of Object.entries(schemas)) {
      for (const [field, property] of Object.entries(properties)) {
        if (property.default === undefined || defaults[name]?.[field] !== undefined) continue;
        // An absent flag is false everywhere; the contract does not say so for each.
        expect([matchers.includes(name), property.default], `${name}.${field}`).to.deep.equal([true, false]);
      }
    }
  });

  it('refer to nothing that is not there', () => {
    const references = [...JSON.stringify(schemas).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
      ([, name]) => name,
    );
    expect(references.length).to.be.above(50);
    expect(Object.keys(schemas)).to.include.members(references);
  });

  it('state types, bounds, formats and words', () => {
    expect(schemas.Listener?.properties.port).to.include({ type: 'integer', minimum: 1, maximum: 65535 });
    expect(schemas.Listener?.properties.pathNormalization).to.deep.include({ enum: ['enforce', 'report'] });
    expect(schemas.Listener?.properties.trustedProxies).to.include({ type: 'array' });
    expect(schemas.Listener?.properties.trustedProxies?.items).to.include({ type: 'string', format: 'cidr' });
    expect(schemas.Listener?.properties.proxyErrors?.oneOf).to.deep.equal([
      { $ref: '#/components/schemas/ListenerProxyErrors' },
      { type: 'string', enum: ['minimal', 'standard', 'full'] },
    ]);
    expect(schemas.Route?.properties.middlewareOverrides).to.deep.include({
      type: 'object',
      additionalProperties: { $ref: '#/components/schemas/MiddlewareOverride' },
    });
    expect(schemas.AccessLogLine?.properties.fields).to.deep.include({ additionalProperties: { type: 'string' } });
    expect(schemas.Forward?.properties.destinations).to.deep.include({
      type: 'array',
      items: { $ref: '#/components/schemas/WeightedDestination' },
      minItems: 1,
    });
    expect(schemas.Snapshot?.properties.createdAt).to.include({ readOnly: true, format: 'date-time' });
  });
});
