// Rollouts as the API answers them, with the comparisons of their shadow steps: counts that were agreed on at the end of
// a step, and what the fleet has reported beyond them.
import type { ShadowCounts, ShownRollout, ShownRolloutStep } from '../../model/answers/rollout-answers.ts';
import type { ShadowReport } from '../../model/fleet-messages.ts';
import { noShadow, shadowSince, sumOfShadows } from '../../model/shadow.ts';
import { isActivated, isShadow, isUnderWay, type Rollout, type RolloutStep, shareOf } from '../../state/rollout.ts';
import { durationText } from './rollout-plan.ts';

export const hasShadow = ({ plan }: Rollout): boolean => plan.steps.some(isShadow);

/** @param reported comparisons that the fleet knows of; absent: they were not asked for, or it knows of none */
export function rolloutText(rollout: Rollout, reported: Partial<ShadowReport> = {}): string {
  const { id, snapshotId, name, sha256, state, step, plan, comment, by: startedBy, events } = rollout;
  const { steps, by, key, shadowSample = null, guards, minRequests, failures, onFail } = plan;
  const counts = stepCounts(rollout, reported.counts);
  const { examples } = reported;
  const answer: ShownRollout = {
    id,
    snapshotId,
    name,
    sha256,
    state,
    activated: isActivated(rollout),
    step,
    share: shareOf(rollout),
    steps: steps.map((each, at) => stepOf(each, counts[at])),
    by,
    key,
    shadowSample,
    shadow: hasShadow(rollout) ? { ...(sumOfShadows(counts) ?? noShadow), ...(examples && { examples }) } : null,
    guards,
    minRequests,
    checkInterval: durationText(plan.checkIntervalMs),
    failures,
    onFail,
    deadman: durationText(plan.deadmanMs),
    maxStep: durationText(plan.maxStepMs),
    comment,
    startedBy,
    events,
  };
  return JSON.stringify(answer);
}

/** Returns the counts of each shadow step; undefined at the places of the others. */
function stepCounts(rollout: Rollout, reported: ShadowCounts | undefined): (ShadowCounts | undefined)[] {
  const { plan, step, shadows = [] } = rollout;
  const recorded = (at: number): ShadowCounts | undefined => shadows.find((each) => each.step === at)?.counts;
  // Counts that no step has been given yet belong to the last one that has begun.
  const last = plan.steps.findLastIndex((each, at) => at <= step && isShadow(each));
  const others = sumOfShadows(shadows.map((each) => (each.step === last ? undefined : each.counts)));
  return plan.steps.map((each, at) => {
    if (!isShadow(each)) return undefined;
    const known = recorded(at);
    const isOpen = at === last && (known === undefined || (isUnderWay(rollout) && at === step));
    return isOpen && reported !== undefined ? shadowSince(reported, others) : (known ?? noShadow);
  });
}

function stepOf({ holdMs, ...step }: RolloutStep, counts: ShadowCounts | undefined): ShownRolloutStep {
  const hold = durationText(holdMs);
  return 'shadow' in step ? { shadow: counts ?? noShadow, hold } : { ...step, hold };
}
