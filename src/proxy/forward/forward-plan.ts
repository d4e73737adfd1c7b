// The forward action of one entry with everything settled that can be settled before a request is there (contract.md
// §2.4.2): arrays and numbers, nothing is parsed, filtered or summed per request.
import type { Forward } from '../../model/forward.ts';
import type { RewritePlan } from '../action/rewrite.ts';
import { durationMs } from '../duration.ts';
import type { EntryPath } from '../match/path.ts';
import type { Upstream, Upstreams } from '../upstream/upstreams.ts';
import type { RetryPlan } from './retry.ts';

export interface ForwardPlan {
  /** Destination ids, as listed; the same may be there more than once. */
  readonly destinations: readonly string[];
  readonly weights: readonly number[];
  readonly rewrite: RewritePlan | undefined;
  readonly path: EntryPath;
  /** Whole exchange in milliseconds; 0 = no limit, undefined = what the destination says. */
  readonly budgetMs: number | undefined;
  /** Undefined: nothing is retried. */
  readonly retry: RetryPlan | undefined;
  /** The upstream is told which try it sees. */
  readonly attemptCount: boolean;
}

export interface ForwardSurroundings {
  readonly path: EntryPath;
  readonly rewrite: RewritePlan | undefined;
  readonly retry: RetryPlan | undefined;
  readonly attemptCount: boolean;
}

export function compileForward(forward: Forward, surroundings: ForwardSurroundings): ForwardPlan {
  const { request } = forward.timeouts ?? {};
  return {
    ...surroundings,
    destinations: forward.destinations.map(({ destinationId }) => destinationId),
    weights: forward.destinations.map(({ weight = 0 }) => weight),
    budgetMs: request === undefined ? undefined : durationMs(request, 0),
  };
}

/** By weight among the destinations that exist; uniformly when all weights are 0. */
export function chooseDestination({ destinations, weights }: ForwardPlan, upstreams: Upstreams): Upstream | undefined {
  if (destinations.length === 1) return upstreams.get(destinations[0] ?? '');
  let total = 0;
  let present = 0;
  for (let i = 0; i < destinations.length; i++) {
    if (upstreams.get(destinations[i] ?? '') === undefined) continue;
    present++;
    total += weights[i] ?? 0;
  }
  let left = Math.random() * (total === 0 ? present : total);
  for (let i = 0; i < destinations.length; i++) {
    const upstream = upstreams.get(destinations[i] ?? '');
    if (upstream === undefined) continue;
    left -= total === 0 ? 1 : (weights[i] ?? 0);
    if (left < 0) return upstream;
  }
  return undefined;
}
