// Plan of a rollout, made of the body that starts it: defaults filled in, durations in milliseconds, and a last step
// that is all (fleet.md §7).
import { parseDuration } from '../../model/duration.ts';
import {
  type RolloutRequest,
  type RolloutStepRequest,
  rolloutDefaults,
  type ShareKeyRequest,
} from '../../model/rollout-request.ts';
import { isServing, isShadow, type RolloutPlan, type RolloutStep, type ShareKey } from '../../state/rollout.ts';

const usualSteps: readonly RolloutStep[] = [
  { share: 1, holdMs: 30_000 },
  { share: 10, holdMs: 60_000 },
  { share: 50, holdMs: 60_000 },
];

/** @param request checked by its schema */
export function planOf(request: RolloutRequest): RolloutPlan {
  const { by, minRequests, failures, onFail, shadowSample } = { ...rolloutDefaults, ...request };
  const steps = stepsOf(request.steps);
  const milliseconds = (name: 'checkInterval' | 'deadman' | 'maxStep'): number =>
    msOf(request[name] ?? rolloutDefaults[name]);
  return {
    steps,
    by,
    key: keyOf(request.key),
    ...(steps.some(isShadow) && { shadowSample }),
    guards: guardsOf(request.guards, steps),
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
  if (steps.every(isShadow)) return steps;
  return last !== undefined && 'share' in last && last.share === 100 ? steps : [...steps, { share: 100, holdMs: 0 }];
}

/**
 * Returns the guards. Shadow steps keep their default beside guards of the request that ask for nothing of theirs; an
 * empty list stands for none.
 */
function guardsOf(sent: readonly string[] | undefined, steps: readonly RolloutStep[]): readonly string[] {
  const guards = sent ?? (isServing({ steps }) ? rolloutDefaults.guards : []);
  const isCovered = sent?.length === 0 || guards.some((guard) => /\bshadow\b/.test(guard));
  return steps.some(isShadow) && !isCovered ? [...guards, rolloutDefaults.shadowGuard] : guards;
}

/** Returns a step. A share of 100 % has no hold unless the request names one. */
function stepOf({ share, labels, shadow, hold }: RolloutStepRequest): RolloutStep {
  const holdMs = msOf(hold ?? (share === 100 ? '0' : rolloutDefaults.hold));
  if (shadow === true) return { shadow, holdMs };
  return share === undefined ? { labels: labels ?? {}, holdMs } : { share, holdMs };
}

function keyOf(key: ShareKeyRequest | undefined): ShareKey {
  if (key?.header !== undefined) return { header: key.header };
  return key?.cookie === undefined ? { clientIp: true } : { cookie: key.cookie };
}

/** Whole milliseconds of a duration. */
const msOf = (text: string): number => Math.round(parseDuration(text) ?? 0);
