// Plan of a rollout, made of the body that starts it: defaults filled in, durations in milliseconds, and a last step
// that is all (fleet.md §7).
import { parseDuration } from '../../model/duration.ts';
import {
  holdOf,
  type RolloutRequest,
  type RolloutStepRequest,
  rolloutDefaults,
  type ShareKeyRequest,
  usualSteps,
} from '../../model/rollout-request.ts';
import type { RolloutPlan, RolloutStep, ShareKey } from '../../state/rollout.ts';

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

/** As it is answered: `90000` is `90s`. */
export const durationText = (ms: number): string => (ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`);

function stepsOf(sent: readonly RolloutStepRequest[] = usualSteps): readonly RolloutStep[] {
  const steps = sent.map(stepOf);
  const last = steps.at(-1);
  return last !== undefined && 'share' in last && last.share === 100 ? steps : [...steps, { share: 100, holdMs: 0 }];
}

function stepOf(step: RolloutStepRequest): RolloutStep {
  const { share, labels } = step;
  const holdMs = msOf(holdOf(step));
  return share === undefined ? { labels: labels ?? {}, holdMs } : { share, holdMs };
}

function keyOf(key: ShareKeyRequest | undefined): ShareKey {
  if (key?.header !== undefined) return { header: key.header };
  return key?.cookie === undefined ? { clientIp: true } : { cookie: key.cookie };
}

/** A fraction of a millisecond is none. */
const msOf = (text: string): number => Math.round(parseDuration(text) ?? 0);
