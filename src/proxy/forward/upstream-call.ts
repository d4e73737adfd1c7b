// Upstream call: a request to an upstream, as a recorded trace sees it.
import { mask } from '../../model/secret-texts.ts';
import type { UpstreamCall } from '../tracing/exchange-trace.ts';
import type { Upstream } from '../upstream/upstreams.ts';
import type { ForwardPlan } from './forward-plan.ts';

/** Returns path and query for traces, hidden where they may come from a secret. */
export const shownTarget = ({ hidesTarget }: Pick<ForwardPlan, 'hidesTarget'>, target: string): string =>
  hidesTarget ? `/${mask}` : target;

/** `endpoint`: its label. `attempt`: 0 for a copy. */
export function callTo({ id, pool }: Upstream, endpoint: string, target: string, attempt: number): UpstreamCall {
  const { protocol, options } = pool;
  return {
    destinationId: id,
    endpoint,
    secure: options.security !== undefined,
    version: protocol.version,
    target,
    attempt,
  };
}
