// Defaults of absent fields, each value once: the OpenAPI document shows it, and compiling a configuration applies it.
// A file of its own because the proxy needs the values and must not load the decorated classes.

export const listenerDefaults = {
  address: '0.0.0.0',
  protocol: 'http',
  sections: [],
  redirectToHttps: { code: 308 },
  http2: false,
  http2Options: { maxConcurrentStreams: 128, maxResetsPerSecond: 100 },
  maxConnections: 0,
  maxRequestHeadersKB: 0,
  maxRequestHeaders: 128,
  maxRequestBodyBytes: 0,
  pathNormalization: 'enforce',
  duplicateQueryParams: 'allow',
  debugHeaders: false,
  trustedProxies: [],
  proxyProtocol: 'off',
  tls: {
    mode: 'terminate',
    certificates: [],
    unknownServerName: 'default',
    strictServerName: false,
    minVersion: 'TLSv1_2',
    clientAuth: { mode: 'none' },
  },
  timeouts: {
    clientHeader: '10s',
    clientRequest: '60s',
    clientResponse: '60s',
    idleBetweenRequests: '120s',
    idleTunnel: '0s',
  },
  metrics: {
    path: '/metrics',
    onListener: true,
    allow: [],
    collect: { route: true, destination: true, endpoint: false, middleware: true, listener: true, consumer: false },
    histograms: {
      durationBuckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      sizeBuckets: [100, 1000, 10_000, 100_000, 1_000_000],
    },
  },
  proxyErrors: { detail: 'standard' },
  errorPages: [],
} as const;

export const destinationDefaults = {
  endpoint: { weight: 1, priority: 0 },
  http2: false,
  /** 0 is no limit. */
  maxConnsPerHost: 0,
  maxConnectionAge: '0s',
  lenient: [],
  timeouts: {
    connect: '5s',
    dualStackFallback: '300ms',
    tlsHandshake: '5s',
    responseHeader: '10s',
    expectContinue: '1s',
    idleConnection: '90s',
  },
  endpointBalancing: {
    algorithm: 'ROUND_ROBIN',
    ringSize: { min: 1024, max: 8_388_608 },
    tableSize: 65_537,
    choiceCount: 2,
    cookie: { name: '_sluice_endpoint_pin', ttl: '1h', signed: false },
    sourceIP: { enabled: false },
  },
  circuitBreaker: {
    maxConnections: 1024,
    maxPendingRequests: 1024,
    maxRequests: 1024,
    maxRetries: 3,
    failureThreshold: 5,
    openDuration: '30s',
  },
  healthCheck: {
    type: 'http',
    expectedStatuses: ['200-399'],
    interval: '10s',
    timeout: '5s',
    unhealthyThreshold: 3,
    healthyThreshold: 2,
  },
  outlierDetection: {
    consecutive5xx: 5,
    consecutiveGatewayErrors: 0,
    interval: '10s',
    baseEjectionTime: '30s',
    maxEjectionPercent: 10,
  },
  tls: { mode: 'none' },
  discovery: { whenEmpty: 'host' },
} as const;

export const retryDefaults = {
  attempts: 0,
  on: ['server-error', 'connection-failure'],
  retriableCodes: [],
  grpcCodes: [],
  budgetPercent: 20,
  backoff: { base: '100ms', max: '1s' },
} as const;

export const routeDefaults = {
  disabled: false,
  priority: 0,
  weight: 0,
  destinationBalancing: {
    algorithm: 'WEIGHTED_RANDOM',
    cookie: { name: '_sluice_destination_pin', ttl: '1h', signed: false },
  },
  failover: true,
  mirrorPercentage: 100,
  mirrorCompare: {
    status: true,
    headers: ['content-type'],
    body: 'json',
    maxBytes: '64KiB',
    latency: true,
    sample: 100,
  },
  fractionDenominator: 100,
  redirect: { code: 301, stripQuery: false },
} as const;

export const streamRouteDefaults = { failover: true, timeouts: { idle: '1h' } } as const;

export const matcherDefaults = { header: { multiple: 'joined' }, query: { multiple: 'first' } } as const;

export const groupDefaults = { includeAttemptCount: false } as const;

export const apiKeyDefaults = { forwardKey: false } as const;

export const corsDefaults = { maxAge: 0, allowCredentials: false } as const;

export const rateLimitDefaults = {
  requestsPerSecond: 10,
  trustedProxies: [],
  scope: 'process',
  failureMode: 'process',
} as const;

export const headersDefaults = { append: false, interpolate: true } as const;

export const jwtDefaults = { jwksRetrievalTimeout: '10s', forwardJwt: false } as const;

export const extAuthzDefaults = {
  protocol: 'sluice',
  mode: 'http',
  decisionTimeout: '5s',
  failureModeAllow: false,
  includeBody: false,
} as const;

export const extProcDefaults = {
  protocol: 'sluice',
  mode: 'grpc',
  phaseTimeout: '200ms',
  phases: {
    requestHeaders: 'send',
    responseHeaders: 'send',
    requestBody: 'none',
    responseBody: 'none',
    maxBodyBytes: 1_048_576,
  },
  allowModeOverride: false,
  allowOnError: false,
  statusOnError: 500,
  disableReject: false,
  observeMode: { enabled: false, workers: 64, queueSize: 4096 },
} as const;

export const accessLogDefaults = { json: false } as const;

export const inlineAuthzDefaults = {
  defaultAction: 'deny',
  denyStatus: 403,
  denyBody: '{"error":"access denied"}',
} as const;

export const compressDefaults = {
  algorithms: ['zstd', 'br', 'gzip'],
  minBytes: 1024,
  types: ['text/*', 'application/json', 'application/javascript', 'image/svg+xml'],
  levels: { gzip: 6, br: 4, zstd: 3 },
  upstreamAcceptEncoding: 'keep',
  decompressRequest: { maxRatio: 100, maxBytes: 10_485_760 },
} as const;

export const basicAuthDefaults = { realm: 'restricted', forwardAuthorization: false, consumers: false } as const;
