// Forward plan: the forward action of one entry, precomputed as far as possible without a request (contract.md
// §2.4.2): arrays and numbers; nothing is parsed, filtered or summed per request.
import { routeDefaults } from '../../model/defaults.ts';
import type { Forward } from '../../model/forward.ts';
import type { RewritePlan } from '../action/target-rewrite.ts';
import { durationMs } from '../parsed-duration.ts';
import type { EntryPath } from '../target/path.ts';
import type { DestinationChoice } from './destination-choice.ts';
import type { RetryPlan } from './retry-policy.ts';

export interface ForwardPlan {
  readonly routeId: string;
  readonly choice: DestinationChoice;
  readonly rewrite: RewritePlan | undefined;
  /** True when the target may hold a secret, and is hidden from traces. */
  readonly hidesTarget: boolean;
  readonly path: EntryPath;
  /** Milliseconds of the whole exchange; 0 = no limit, undefined = the destination's. */
  readonly budgetMs: number | undefined;
  /** Undefined: no retries. */
  readonly retry: RetryPlan | undefined;
  /** True when the upstream gets the number of the attempt. */
  readonly attemptCount: boolean;
  /** Undefined: no mirror. */
  readonly mirror: MirrorPlan | undefined;
  /** Cap on `grpc-timeout` in milliseconds; 0 = none. */
  readonly grpcTimeoutMsMax: number;
}

export interface MirrorPlan {
  readonly destinationId: string;
  /** Share of the requests, 0…1. */
  readonly share: number;
}

export interface ForwardSurroundings {
  readonly routeId: string;
  readonly path: EntryPath;
  readonly rewrite: RewritePlan | undefined;
  readonly hidesTarget: boolean;
  readonly retry: RetryPlan | undefined;
  readonly attemptCount: boolean;
  readonly choice: DestinationChoice;
}

export function compileForward(forward: Forward, surroundings: ForwardSurroundings): ForwardPlan {
  const { timeouts, mirror, maxGrpcTimeout } = forward;
  const share = (mirror?.percentage ?? routeDefaults.mirrorPercentage) / 100;
  return {
    ...surroundings,
    budgetMs: timeouts?.request === undefined ? undefined : durationMs(timeouts.request, 0),
    mirror: mirror === undefined || share === 0 ? undefined : { destinationId: mirror.destinationId, share },
    grpcTimeoutMsMax: durationMs(maxGrpcTimeout, 0),
  };
}
