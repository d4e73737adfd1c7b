// Options of a destination: how it is reached and watched (contract.md §2.3.1–§2.3.7).
import { allOf, has, hasOrLacks, inOrder, isTrue, noneOf, whenever } from './constraint.ts';
import { destinationDefaults } from './defaults.ts';
import { EndpointBalancing } from './endpoint-balancing.ts';
import { Duration, Flag, Host, Line, ListOf, Nested, OneOf, Pem, Target, Uint } from './field.ts';
import { problemIf, Rules } from './rule.ts';
import { oneOf, statusRange } from './scalar.ts';
import { SubjectAltName } from './subject-alt-name.ts';
import { isNewer, type TlsVersion, tlsVersions } from './tls-version.ts';

const { timeouts, circuitBreaker, healthCheck, outlierDetection } = destinationDefaults;

export const upstreamTlsModes = ['none', 'tls', 'mtls'] as const;
export const healthCheckTypes = ['http', 'tcp', 'grpc'] as const;
/** Forms of HTTP/1.1 that only old or odd upstreams use. */
export const lenientForms = [
  'bareLf',
  'duplicateContentLength',
  'spaceBeforeColon',
  'paddedChunkSize',
  'controlBytes',
] as const;

export type LenientForm = (typeof lenientForms)[number];

/** Versions of the PROXY protocol. */
export const proxyProtocolVersions = ['v1', 'v2'] as const;

export const discoveryTypes = ['kubernetes'] as const;

export const whenEmptyChoices = ['host', 'none'] as const;

export class DestinationTimeouts {
  @Duration('Whole exchange, body included. Absent or 0: no limit.')
  readonly request?: string;

  @Duration('TCP connect. 0: no limit.', { default: timeouts.connect })
  readonly connect?: string;

  @Duration('Silence of the first address family after which the other is tried too. 0: at once.', {
    default: timeouts.dualStackFallback,
  })
  readonly dualStackFallback?: string;

  @Duration('TLS handshake. 0: no limit.', { default: timeouts.tlsHandshake })
  readonly tlsHandshake?: string;

  @Duration('From the request sent to the response headers. 0: no limit.', { default: timeouts.responseHeader })
  readonly responseHeader?: string;

  @Duration('Wait for `100 Continue` before the body is sent anyway. 0: no limit.', {
    default: timeouts.expectContinue,
  })
  readonly expectContinue?: string;

  @Duration('How long an unused connection stays open. 0: no limit.', { default: timeouts.idleConnection })
  readonly idleConnection?: string;
}

export class CircuitBreaker {
  @Uint('Most exchanges at a time. 0: the default.', { default: circuitBreaker.maxConnections })
  readonly maxConnections?: number;

  @Uint('Most requests that wait for a connection. 0: the default.', { default: circuitBreaker.maxPendingRequests })
  readonly maxPendingRequests?: number;

  @Uint('Most requests at a time. 0: the default.', { default: circuitBreaker.maxRequests })
  readonly maxRequests?: number;

  @Uint('Most retries at a time. 0: the default.', { default: circuitBreaker.maxRetries })
  readonly maxRetries?: number;

  @Uint('Failures in a row that open the circuit. 0: it never opens.', { default: circuitBreaker.failureThreshold })
  readonly failureThreshold?: number;

  @Duration('How long the circuit stays open before a probe.', { default: circuitBreaker.openDuration })
  readonly openDuration?: string;
}

@Rules<HealthCheck>(
  {
    httpNeedsPath: ({ type = healthCheck.type, path }) =>
      problemIf(type === 'http' && path === undefined, '/path', 'is required when type is http'),
  },
  whenever(hasOrLacks('type', 'http'), has('path')),
)
export class HealthCheck {
  @OneOf(healthCheckTypes, 'What a probe is: a GET, a TCP connection, or `grpc.health.v1.Health/Check`.', {
    default: healthCheck.type,
  })
  readonly type?: (typeof healthCheckTypes)[number];

  @Target('Path to probe, with its query; required with type http, unused with the others.', { example: '/healthz' })
  readonly path?: string;

  @Line('Service that a probe of type grpc asks about. Absent: the server as a whole.')
  readonly grpcService?: string;

  @ListOf(statusRange, 'Statuses that make a probe of type http a success, as `200` or `200-299`.', {
    default: healthCheck.expectedStatuses,
    lengthMax: 64,
  })
  readonly expectedStatuses?: readonly string[];

  @Duration('Time between probes of an endpoint; at least one second is kept.', { default: healthCheck.interval })
  readonly interval?: string;

  @Duration('Time for a probe. 0: the default.', { default: healthCheck.timeout })
  readonly timeout?: string;

  @Uint('Failures in a row that make an endpoint unhealthy. 0: the default.', {
    default: healthCheck.unhealthyThreshold,
  })
  readonly unhealthyThreshold?: number;

  @Uint('Successes in a row that make an endpoint healthy. 0: the default.', { default: healthCheck.healthyThreshold })
  readonly healthyThreshold?: number;
}

export class OutlierDetection {
  @Uint('Responses 5xx in a row that eject an endpoint. 0: off.', { default: outlierDetection.consecutive5xx })
  readonly consecutive5xx?: number;

  @Uint('Responses 502, 503 or 504 in a row that eject an endpoint. 0: off.', {
    default: outlierDetection.consecutiveGatewayErrors,
  })
  readonly consecutiveGatewayErrors?: number;

  @Duration('Upper bound on the time between looks for endpoints to take back.', { default: outlierDetection.interval })
  readonly interval?: string;

  @Duration('How long an endpoint is ejected, times the number of its ejections.', {
    default: outlierDetection.baseEjectionTime,
  })
  readonly baseEjectionTime?: string;

  @Uint('Most endpoints that may be ejected at a time, in percent.', {
    max: 100,
    default: outlierDetection.maxEjectionPercent,
  })
  readonly maxEjectionPercent?: number;
}

export class Discovery {
  @OneOf(discoveryTypes, 'Where endpoints are found. Absent: they are the ones listed.')
  readonly type?: (typeof discoveryTypes)[number];

  @OneOf(
    whenEmptyChoices,
    'While discovery has found no endpoint: `host` uses the listed endpoints or host and port, `none` answers 503.',
    { default: destinationDefaults.discovery.whenEmpty },
  )
  readonly whenEmpty?: (typeof whenEmptyChoices)[number];
}

const subjectAltNamesMax = 64;

@Rules<DestinationTls>(
  {
    mutualNeedsCert: ({ mode, cert }) =>
      problemIf(mode === 'mtls' && cert === undefined, '/cert', 'is required when mode is mtls'),
    mutualNeedsKey: ({ mode, key }) =>
      problemIf(mode === 'mtls' && key === undefined, '/key', 'is required when mode is mtls'),
    versionsInOrder: ({ minVersion, maxVersion }) =>
      problemIf(isNewer(minVersion, maxVersion), '/maxVersion', `must not be below minVersion, ${minVersion}`),
  },
  whenever(has('mode', 'mtls'), allOf(has('cert'), has('key'))),
  inOrder('minVersion', 'maxVersion', tlsVersions),
)
export class DestinationTls {
  @OneOf(upstreamTlsModes, 'Plaintext, TLS, or TLS with a client certificate.', {
    default: destinationDefaults.tls.mode,
  })
  readonly mode?: (typeof upstreamTlsModes)[number];

  @Pem('Client certificate chain, as PEM text or a secret reference.')
  readonly cert?: string;

  @Pem('Client private key, as PEM text or a secret reference.')
  readonly key?: string;

  @Pem('Certificates that the server must lead to. Absent: those of the system.')
  readonly ca?: string;

  @Host('Server name to ask for and to verify. Absent: the host of the destination.')
  readonly sni?: string;

  @ListOf(
    SubjectAltName,
    'Names of which the certificate must have one; the server name is then asked for and not verified.',
    {
      lengthMax: subjectAltNamesMax,
    },
  )
  readonly subjectAltNames?: readonly SubjectAltName[];

  @OneOf(tlsVersions, 'Oldest TLS version to use. Absent: TLS 1.2 or what the runtime demands.')
  readonly minVersion?: TlsVersion;

  @OneOf(tlsVersions, 'Newest TLS version to use. Absent: the newest there is.')
  readonly maxVersion?: TlsVersion;
}

@Rules<DestinationOptions>(
  {
    oneClientPerConnection: ({ http2, proxyProtocol }) =>
      problemIf(http2 === true && proxyProtocol !== undefined, '/proxyProtocol', 'must not stand beside http2'),
  },
  noneOf(allOf(isTrue('http2'), has('proxyProtocol'))),
)
export class DestinationOptions {
  @Nested(DestinationTimeouts, 'Limits on a slow upstream.', { absentIsEmpty: true })
  readonly timeouts?: DestinationTimeouts;

  @Nested(EndpointBalancing, 'How requests are spread over the endpoints.', { absentIsEmpty: true })
  readonly endpointBalancing?: EndpointBalancing;

  @Nested(CircuitBreaker, 'Present: requests are refused while the destination fails.')
  readonly circuitBreaker?: CircuitBreaker;

  @Nested(HealthCheck, 'Present: endpoints are probed.')
  readonly healthCheck?: HealthCheck;

  @Nested(OutlierDetection, 'Present: endpoints that fail are left out for a while.')
  readonly outlierDetection?: OutlierDetection;

  @Nested(Discovery, 'Where endpoints come from.')
  readonly discovery?: Discovery;

  @Nested(DestinationTls, 'TLS towards the upstream.')
  readonly tls?: DestinationTls;

  @Flag('Speak HTTP/2: by ALPN with TLS, with prior knowledge without. gRPC needs it.', {
    default: destinationDefaults.http2,
  })
  readonly http2?: boolean;

  @OneOf(
    proxyProtocolVersions,
    'Begin each connection with a head of the PROXY protocol that names its client, before TLS. A connection then serves one client alone. Not with `http2`. Absent: none.',
  )
  readonly proxyProtocol?: (typeof proxyProtocolVersions)[number];

  @Uint('Most TCP connections to the destination. 0: no limit.', { default: destinationDefaults.maxConnsPerHost })
  readonly maxConnsPerHost?: number;
  @Duration('Age at which a connection takes no new request; each up to a tenth earlier. 0: no limit.', {
    default: destinationDefaults.maxConnectionAge,
  })
  readonly maxConnectionAge?: string;

  @ListOf(oneOf(lenientForms), 'Forms of HTTP/1.1 responses to accept although RFC 9112 does not allow them.', {
    default: destinationDefaults.lenient,
    distinct: true,
  })
  readonly lenient?: readonly LenientForm[];
}
