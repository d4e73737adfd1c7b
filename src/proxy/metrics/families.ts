// The 22 families of contract.md §10.2, in its order, and behind them those of streams (layer4.md §6), of mirrors that are
// compared and of consumers. The number of a family follows from its place.

type Dimension = 'route' | 'destination' | 'endpoint' | 'middleware' | 'listener' | 'consumer';
/** Protocol of the listeners that have the family; absent: any. */
type FamilyProtocol = 'http' | 'tcp';

export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly dimension: Dimension;
  readonly protocol?: FamilyProtocol;
  /** Shown only while something was counted in it. */
  readonly isSparse?: boolean;
  /** Upper bounds in place of those of the listener. */
  readonly buckets?: readonly number[];
}

/** Seconds by which a mirror answers earlier, or later, than the primary. */
export const deltaBuckets = [
  -10, -5, -2.5, -1, -0.5, -0.25, -0.1, -0.05, -0.025, -0.01, -0.005, -0.001, 0, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1,
  0.25, 0.5, 1, 2.5, 5, 10,
] as const;

const make = (dimension: Dimension, type: Family['type'], name: string, help: string): Family => ({
  name: `sluice_${name}`,
  type,
  help,
  dimension,
});

const ofStreams = (dimension: Dimension, type: Family['type'], name: string, help: string): Family => ({
  ...make(dimension, type, name, help),
  protocol: 'tcp',
});

const sparse = (dimension: Dimension, name: string, help: string): Family => ({
  ...make(dimension, 'counter', name, help),
  isSparse: true,
});

/** In the order of a scrape. */
const declared = {
  routeRequests: make('route', 'counter', 'route_requests_total', 'Requests that a route won, by method and status.'),
  routeDuration: make(
    'route',
    'histogram',
    'route_duration_seconds',
    'From the request head to the end of the response, by route.',
  ),
  routeRequestBytes: make('route', 'counter', 'route_request_bytes_total', 'Bytes of request bodies, by route.'),
  routeResponseBytes: make(
    'route',
    'counter',
    'route_response_bytes_total',
    'Bytes of response bodies that were sent, by route.',
  ),
  routeInflight: make('route', 'gauge', 'route_inflight_requests', 'Requests under way, by route.'),
  routeRetries: make(
    'route',
    'counter',
    'route_retries_total',
    'Retries that began, by route and number of the retry.',
  ),
  mirrorRequests: make('route', 'counter', 'mirror_requests_total', 'Copies that were sent to a mirror.'),
  destinationRequests: make(
    'destination',
    'counter',
    'destination_requests_total',
    'Exchanges that chose an endpoint, by final status.',
  ),
  destinationDuration: make(
    'destination',
    'histogram',
    'destination_duration_seconds',
    'Duration of the exchanges of a destination.',
  ),
  destinationInflight: make(
    'destination',
    'gauge',
    'destination_inflight_requests',
    'Exchanges under way with a destination.',
  ),
  circuitBreakerState: make(
    'destination',
    'gauge',
    'destination_circuit_breaker_state',
    '0 closed, 1 open, 2 half-open.',
  ),
  endpointRequests: make(
    'endpoint',
    'counter',
    'endpoint_requests_total',
    'Exchanges by the endpoint that was tried last.',
  ),
  endpointDuration: make(
    'endpoint',
    'histogram',
    'endpoint_duration_seconds',
    'Duration of the exchanges of an endpoint.',
  ),
  endpointHealthy: make(
    'endpoint',
    'gauge',
    'endpoint_healthy',
    '1 available, 0 failed its health checks or is ejected.',
  ),
  endpointConsecutive5xx: make('endpoint', 'gauge', 'endpoint_consecutive_5xx', 'Answers of 500 and above in a row.'),
  middlewareDuration: make(
    'middleware',
    'histogram',
    'middleware_duration_seconds',
    'Time spent in a middleware itself, per run.',
  ),
  middlewareRejections: make(
    'middleware',
    'counter',
    'middleware_rejections_total',
    'Runs in which the middleware itself refused.',
  ),
  middlewarePassed: make(
    'middleware',
    'counter',
    'middleware_passed_total',
    'Runs in which the middleware let the exchange go on.',
  ),
  connections: make('listener', 'counter', 'listener_connections_total', 'Connections that were accepted.'),
  activeConnections: make('listener', 'gauge', 'listener_active_connections', 'Connections that are open.'),
  handshakeErrors: make('listener', 'counter', 'listener_tls_handshake_errors_total', 'TLS handshakes that failed.'),
  proxyErrors: make(
    'listener',
    'counter',
    'proxy_errors_total',
    'Responses in which the proxy itself reported an error.',
  ),
  streamConnections: ofStreams(
    'route',
    'counter',
    'stream_connections_total',
    'Connections of a stream route that ended, by result.',
  ),
  streamActive: ofStreams('route', 'gauge', 'stream_active_connections', 'Connections under way, by stream route.'),
  streamDuration: ofStreams(
    'route',
    'histogram',
    'stream_duration_seconds',
    'From the route of a connection to its end.',
  ),
  streamReceivedBytes: ofStreams(
    'route',
    'counter',
    'stream_received_bytes_total',
    'Bytes from clients, by stream route.',
  ),
  streamSentBytes: ofStreams('route', 'counter', 'stream_sent_bytes_total', 'Bytes to clients, by stream route.'),
  streamRetries: ofStreams(
    'route',
    'counter',
    'stream_connect_retries_total',
    'Further endpoints that were tried, by stream route.',
  ),
  streamDestinationConnections: ofStreams(
    'destination',
    'counter',
    'stream_destination_connections_total',
    'Connections that ended, by result.',
  ),
  streamDestinationActive: ofStreams(
    'destination',
    'gauge',
    'stream_destination_active_connections',
    'Connections under way.',
  ),
  mirrorCompared: {
    ...make('route', 'counter', 'mirror_compared_total', 'Copies whose responses were to be compared, by result.'),
    isSparse: true,
  },
  mirrorLatencyDelta: {
    ...make('route', 'histogram', 'mirror_latency_delta_seconds', 'Time to the response head, mirror minus primary.'),
    isSparse: true,
    buckets: deltaBuckets,
  },
  consumerRequests: {
    ...make('consumer', 'counter', 'consumer_requests_total', 'Requests in which a consumer was found, by status.'),
    isSparse: true,
  },
  compressedResponses: sparse(
    'middleware',
    'compress_responses_total',
    'Responses that a middleware compressed, by coding.',
  ),
  compressInputBytes: sparse('middleware', 'compress_input_bytes_total', 'Bytes of their bodies before the coding.'),
  compressOutputBytes: sparse('middleware', 'compress_output_bytes_total', 'Bytes of their bodies behind the coding.'),
  basicAuthVerifications: sparse(
    'middleware',
    'basic_auth_verifications_total',
    'Credentials that a middleware looked at, by result.',
  ),
  rateLimitTokens: sparse(
    'middleware',
    'rate_limit_tokens_total',
    'Tokens that requests asked a limiter for, by result.',
  ),
  rateLimitStore: sparse(
    'middleware',
    'rate_limit_store_requests_total',
    'Requests for which a limiter asked Redis, by result.',
  ),
  proxyHeaders: sparse(
    'listener',
    'listener_proxy_headers_total',
    'Connections on which a PROXY head was awaited, by result.',
  ),
  errorPages: sparse('listener', 'error_pages_total', 'Error pages in the place of a body, by status.'),
} as const satisfies Readonly<Record<string, Family>>;

type FamilyName = keyof typeof declared;

export const families: readonly Family[] = Object.values(declared);

/** Number of each family: its place in `families`. */
export const family = Object.fromEntries(Object.keys(declared).map((name, place) => [name, place])) as Readonly<
  Record<FamilyName, number>
>;

/** Families of what single types of middleware do, each with the label of its own. */
export const tallies = {
  compressedResponses: { family: family.compressedResponses, label: 'coding' },
  compressInputBytes: { family: family.compressInputBytes, label: 'coding' },
  compressOutputBytes: { family: family.compressOutputBytes, label: 'coding' },
  basicAuthVerifications: { family: family.basicAuthVerifications, label: 'result' },
  rateLimitTokens: { family: family.rateLimitTokens, label: 'result' },
  rateLimitStore: { family: family.rateLimitStore, label: 'result' },
} as const;

/** Metrics that a listener collects, with the defaults applied. */
export interface Collected {
  readonly path: string;
  readonly route: boolean;
  readonly destination: boolean;
  readonly endpoint: boolean;
  readonly middleware: boolean;
  readonly listener: boolean;
  readonly consumer: boolean;
  /** Protocol of the listener, which decides what families it has. */
  readonly protocol: FamilyProtocol;
  /** Seconds, strictly increasing. */
  readonly buckets: readonly number[];
}

/** `name="value",…` as it stands between the braces (text format 0.0.4). */
export const labelsText = (labels: readonly (readonly [name: string, value: string])[]): string =>
  labels.map(([name, value]) => `${name}="${escaped(value)}"`).join(',');

const escaped = (value: string): string =>
  /[\\"\n]/.test(value) ? value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n') : value;
