// Forward plan: the forward action of one entry, precomputed as far as possible without a request (contract.md
// §2.4.2): arrays and numbers; nothing is parsed, filtered or summed per request.
import { routeDefaults } from '../../model/defaults.ts';
import type { Forward } from '../../model/forward.ts';
import type { Mirror } from '../../model/mirror.ts';
import { mirrorsOf } from '../../model/mirrors-of.ts';
import type { RewritePlan } from '../action/target-rewrite.ts';
import { buildHeaders, type Headers } from '../middleware/headers.ts';
import { durationMs } from '../parsed-duration.ts';
import type { EntryPath } from '../target/path.ts';
import { type SignedLevel, signedLevel } from '../upstream/session/signed-cookies.ts';
import type { DestinationChoice } from './destination-choice.ts';
import { type ComparePlan, compileCompare } from './mirror/compare-plan.ts';
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
  /** Milliseconds of one attempt with its whole response; 0 = no limit. */
  readonly perAttemptMs: number;
  /** Changes to the fields of every forwarded request and its response; undefined: none. */
  readonly headers: Headers | undefined;
  /** Signed cookie by which a share is chosen; undefined: by another rule. */
  readonly signed: SignedLevel | undefined;
  /** Undefined: no retries. */
  readonly retry: RetryPlan | undefined;
  /** True when the upstream gets the number of the attempt. */
  readonly attemptCount: boolean;
  /** Undefined: no mirror. */
  readonly mirrors: readonly MirrorPlan[] | undefined;
  /** Cap on `grpc-timeout` in milliseconds; 0 = none. */
  readonly grpcTimeoutMsMax: number;
}

export interface MirrorPlan {
  readonly destinationId: string;
  /** Share of the requests, 0…1. */
  readonly share: number;
  /** Undefined: responses are not compared. */
  readonly compare: ComparePlan | undefined;
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
  const { timeouts, headers, maxGrpcTimeout } = forward;
  const mirrors = mirrorsOf(forward)
    .map(mirrorPlan)
    .filter(({ share }) => share > 0);
  return {
    ...surroundings,
    budgetMs: timeouts?.request === undefined ? undefined : durationMs(timeouts.request, 0),
    perAttemptMs: durationMs(timeouts?.perAttempt, 0),
    headers: headers && buildHeaders(headers),
    signed: signedLevel('route', surroundings.routeId, surroundings.choice),
    mirrors: mirrors.length === 0 ? undefined : mirrors,
    grpcTimeoutMsMax: durationMs(maxGrpcTimeout, 0),
  };
}

function mirrorPlan({ destinationId, compare: settings, ...share }: Mirror): MirrorPlan {
  return { destinationId, share: shareOf(share), compare: settings && compileCompare(settings) };
}

function shareOf({ percentage = routeDefaults.mirrorPercentage, fraction }: Omit<Mirror, 'destinationId'>): number {
  if (fraction === undefined) return percentage / 100;
  const { numerator, denominator = routeDefaults.fractionDenominator } = fraction;
  return numerator / denominator;
}
