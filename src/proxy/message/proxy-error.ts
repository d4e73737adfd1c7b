// Proxy errors: failures of a request in Sluice, as the client sees them (contract.md §9, architecture.md §9). The
// code that first detects a failure makes a ProxyError; the connection writes it once, in the detail level of its
// listener.
import { type ProxyErrorType, proxyErrors } from '../../errors.ts';

export type ErrorDetail = 'minimal' | 'standard' | 'full';

/** Location of the failure, as far as known. */
export interface ErrorPlace {
  /** Destination id. */
  readonly destination?: string | undefined;
  /** `host:port` of the endpoint. */
  readonly endpoint?: string | undefined;
}

export interface ProxyError extends ErrorPlace {
  readonly type: ProxyErrorType;
  /** Message beyond the default text; never contains a secret. */
  readonly message?: string | undefined;
}

export const proxyError = (type: ProxyErrorType, place: ErrorPlace = {}, message?: string): ProxyError => ({
  type,
  destination: place.destination,
  endpoint: place.endpoint,
  message,
});

/** Value of Allow where Sluice itself refuses a method, or is asked for those that it allows (RFC 9110 §10.2.1). */
export const allowedMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

export const statusOf = (error: ProxyError): number => proxyErrors[error.type].status;

/**
 * Returns the JSON body, with its keys in the order of contract.md §9. Sent with `Content-Type: application/json`,
 * exactly.
 */
export function renderProxyError(error: ProxyError, detail: ErrorDetail, nowMs: number, snapshot?: string): string {
  const { status, message } = proxyErrors[error.type];
  const minimal = { error: error.type, status };
  if (detail === 'minimal') return JSON.stringify(minimal);
  const standard = { ...minimal, message: error.message ?? message };
  if (detail === 'standard') return JSON.stringify(standard);
  const { destination, endpoint } = error;
  return JSON.stringify({ ...standard, destination, endpoint, snapshot, timestamp: secondsStamp(nowMs) });
}

/** Returns RFC 3339 in UTC without fractions: `2026-03-30T14:22:01Z`. */
const secondsStamp = (nowMs: number): string => `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
