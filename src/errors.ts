// Registry of errors: every failure that another program can see has one code here. Code throws `SluiceError`;
// `src/api/error-filter.ts` is the one place that turns it into a response.

/** API errors: code → HTTP status (contract.md §0.4, architecture.md §6.6). */
export const apiErrors = {
  /** Malformed JSON, a failed validation, an unresolved or dangling reference. */
  INVALID: 400,
  UNAUTHENTICATED: 401,
  /** The key's role may not do this, or a browser page of another origin asked. */
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  /** Name or id taken; deleting the active snapshot. */
  CONFLICT: 409,
  /** Something that was there is deleted. */
  GONE: 410,
  /** `If-Match` names another revision. */
  PRECONDITION_FAILED: 412,
  TOO_LARGE: 413,
  /** The JSON of an operation has too many keys of objects. */
  TOO_MANY_KEYS: 413,
  /** A relayed write reached a node that does not lead. Never leaves the cluster. */
  NOT_LEADER: 421,
  /** An `Idempotency-Key` came back with another body or deciding parameter. */
  KEY_REUSED: 422,
  /** A capture with `failOn`, and the configuration has findings so grave; the body has them. */
  FINDINGS: 422,
  /** A bug. */
  INTERNAL: 500,
  /** Definitely not applied; the client may retry. */
  UNAVAILABLE: 503,
  /** Outcome not known yet: the write may or may not have been applied; the body carries `requestId`. */
  OUTCOME_UNKNOWN: 504,
} as const;

export type ApiErrorCode = keyof typeof apiErrors;

/** Fields of an error body beside `error`, and headers of the response. */
export interface ErrorDetails {
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** A failure that is meant for the caller of the API. The message never holds a secret value. */
export class SluiceError extends Error {
  readonly code: ApiErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ApiErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'SluiceError';
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return apiErrors[this.code];
  }
}

/** Proxy errors: type → status and default message (contract.md §9, architecture.md §9). */
export const proxyErrors = {
  bad_request: { status: 400, message: 'bad request' },
  duplicate_query_param: { status: 400, message: 'a query parameter is there twice' },
  repeated_field: { status: 400, message: 'a field or parameter that may come once is there more than once' },
  expression_limit: { status: 400, message: 'expression takes too many steps' },
  no_route: { status: 404, message: 'no matching route' },
  method_not_allowed: { status: 405, message: 'method not allowed' },
  body_too_large: { status: 413, message: 'request body too large' },
  uri_too_long: { status: 414, message: 'request target too long' },
  expectation_failed: { status: 417, message: 'expectation failed' },
  misdirected_request: { status: 421, message: 'this connection is not for the requested host' },
  request_headers_too_large: { status: 431, message: 'request headers too large' },
  middleware_unavailable: { status: 500, message: 'middleware unavailable' },
  no_destination: { status: 502, message: 'no destination available' },
  no_endpoint: { status: 502, message: 'no healthy endpoint' },
  connection_refused: { status: 502, message: 'upstream connection refused' },
  connection_reset: { status: 502, message: 'upstream connection reset' },
  dns_failure: { status: 502, message: 'upstream host not found' },
  tls_handshake_failure: { status: 502, message: 'upstream TLS handshake failed' },
  bad_response: { status: 502, message: 'upstream sent an invalid response' },
  destination_unavailable: { status: 503, message: 'destination unavailable' },
  circuit_open: { status: 503, message: 'circuit breaker open' },
  timeout: { status: 504, message: 'request timeout' },
  version_not_supported: { status: 505, message: 'HTTP version not supported' },
} as const;

export type ProxyErrorType = keyof typeof proxyErrors;

/** Status of an exchange whose client was gone before its response began, in metrics, logs and recorded requests. */
export const clientGone = 499;
