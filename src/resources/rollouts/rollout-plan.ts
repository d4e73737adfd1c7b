// Plan of a rollout, made of the body that starts it: defaults filled in, durations in milliseconds, and a last step
// that is all (fleet.md §7).
import { parseDuration } from '../../model/duration.ts';
import {
  type RolloutRequest,
  type RolloutStepRequest,
  rolloutDefaults,
  type ShareKeyRequest,
} from '../../model/rollout-request.ts';
import type { RolloutPlan, RolloutStep, ShareKey } from '../../state/rollout.ts';

const usualSteps: readonly RolloutStep[] = [
  { share: 1, holdMs: 30_000 },
  { share: 10, holdMs: 60_000 },
  { share: 50, holdMs: 60_000 },
];

/** @param request checked by its schema */
export function planOf(request: RolloutRequest): RolloutPlan {
  const { by, guards, minRequests, failures, onFail } = { ...rolloutDefaults, ...request };
  const milliseconds = (name: 'checkInterval' | 'deadman' | 'maxStep'): number =>
    msOf(request[name] ?? rolloutDefaults[name]);
  return {
    steps: stepsOf(request.steps),
    by,
    key: keyOf(request.key),
    guards,
    minRequests,
    checkIntervalMs: milliseconds('checkInterval'),
    failures,
    onFail,
    deadmanMs: milliseconds('deadman'),
    maxStepMs: milliseconds('maxStep'),
  };
}

/** Text of a duration in answers: `90000` is `90s`. */
export const durationText = (ms: number): string => (ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`);

function stepsOf(sent: readonly RolloutStepRequest[] | undefined): readonly RolloutStep[] {
  const steps = sent?.map(stepOf) ?? usualSteps;
  const last = steps.at(-1);
  return last !== undefined && 'share' in last && last.share === 100 ? steps : [...steps, { share: 100, holdMs: 0 }];
}

/** Returns a step. A share of 100 % has no hold unless the request names one. */
function stepOf({ share, labels, hold }: RolloutStepRequest): RolloutStep {
  const holdMs = msOf(hold ?? (share === 100 ? '0' : rolloutDefaults.hold));
  return share === undefined ? { labels: labels ?? {}, holdMs } : { share, holdMs };
}

function keyOf(key: ShareKeyRequest | undefined): ShareKey {
  if (key?.header !== undefined) return { header: key.header };
  return key?.cookie === undefined ? { clientIp: true } : { cookie: key.cookie };
}

/** Whole milliseconds of a duration. */
const msOf = (text: string): number => Math.round(parseDuration(text) ?? 0);
