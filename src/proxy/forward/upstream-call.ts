// A request to an upstream, as a trace that is recorded is told of it.
import type { UpstreamCall } from '../tracing/exchange-trace.ts';
import type { Upstream } from '../upstream/upstreams.ts';

/** `endpoint`: `host:port`. `attempt`: 0 for a copy. */
export function callTo({ id, pool }: Upstream, endpoint: string, target: string, attempt: number): UpstreamCall {
  const { http2, security } = pool.options;
  return { destinationId: id, endpoint, secure: security !== undefined, http2, target, attempt };
}
