// What a client sees when Sluice itself fails a request (contract.md §9, architecture.md §9). Whoever first knows
// of a failure makes a ProxyError; the connection writes it once, in the detail level of its listener.
import { type ProxyErrorType, proxyErrors } from '../../errors.ts';

export type ErrorDetail = 'minimal' | 'standard' | 'full';

/** Where a request was going when it failed; whatever is known. */
export interface ErrorPlace {
  /** Destination id. */
  readonly destination?: string | undefined;
  /** `host:port` of the endpoint. */
  readonly endpoint?: string | undefined;
}

export interface ProxyError extends ErrorPlace {
  readonly type: ProxyErrorType;
  /** More than the default text says, and never a secret. */
  readonly message?: string | undefined;
}

export const proxyError = (type: ProxyErrorType, place: ErrorPlace = {}, message?: string): ProxyError => ({
  type,
  destination: place.destination,
  endpoint: place.endpoint,
  message,
});

export const statusOf = (error: ProxyError): number => proxyErrors[error.type].status;

/** The JSON body; its keys come in the order of contract.md §9. Goes with `Content-Type: application/json`, exactly. */
export function renderProxyError(error: ProxyError, detail: ErrorDetail, nowMs: number, snapshot?: string): string {
  const { status, message } = proxyErrors[error.type];
  const minimal = { error: error.type, status };
  if (detail === 'minimal') return JSON.stringify(minimal);
  const standard = { ...minimal, message: error.message ?? message };
  if (detail === 'standard') return JSON.stringify(standard);
  const { destination, endpoint } = error;
  return JSON.stringify({ ...standard, destination, endpoint, snapshot, timestamp: secondsStamp(nowMs) });
}

/** RFC 3339 in UTC without fractions: `2026-03-30T14:22:01Z`. */
const secondsStamp = (nowMs: number): string => `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
