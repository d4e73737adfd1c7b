// Shape of a rollout's command, whether bytes are one: every field that apply reads is looked at.
import { idPattern } from '../model/id.ts';
import { isCount, isObject } from '../model/json-object.ts';
import { isShadowCounts } from '../model/shadow.ts';
import { auditProblemOf, type Fields, isOptionalText, isTexts } from './command-shape.ts';

const moves = ['pause', 'resume', 'abort', 'promote'];
const drives = ['advance', 'fail', 'stall'];
const failures = ['guard failed', 'refused'];

/** The first thing that is wrong. */
export function rolloutProblemOf(value: Fields): string | undefined {
  const { action, snapshotId, plan, epoch, because, guard, values, shadow, finish } = value;
  if (typeof action !== 'string') return 'has no action';
  if (moves.includes(action)) {
    return finish === undefined || finish === true ? auditProblemOf(value) : 'has an invalid finish';
  }
  if (drives.includes(action)) {
    if (!isCount(epoch)) return 'names no epoch';
    if (action === 'fail' && !failures.some((known) => known === because)) return 'does not say why it failed';
    if (shadow !== undefined && !(isObject(shadow) && isShadowCounts(shadow))) return 'has invalid counts';
    return isOptionalText(guard) && (values === undefined || isObject(values)) ? undefined : 'has invalid values';
  }
  if (action !== 'start') return 'has no known action';
  if (typeof snapshotId !== 'string' || !idPattern.test(snapshotId)) return 'names no snapshot';
  return isObject(plan) && isPlan(plan) ? auditProblemOf(value) : 'has no valid plan';
}

function isPlan(plan: Fields): boolean {
  const { steps, by, key, shadowSample, guards, onFail } = plan;
  const counts = [plan.minRequests, plan.checkIntervalMs, plan.failures, plan.deadmanMs, plan.maxStepMs];
  if (!Array.isArray(steps) || steps.length === 0 || !steps.every(isStep)) return false;
  if (!Array.isArray(guards) || !guards.every((guard) => typeof guard === 'string')) return false;
  if (shadowSample !== undefined && !(isCount(shadowSample) && shadowSample > 0)) return false;
  return (
    (by === 'client' || by === 'proxy') &&
    isObject(key) &&
    (onFail === 'rollback' || onFail === 'pause') &&
    counts.every(isCount)
  );
}

function isStep(step: unknown): boolean {
  if (!isObject(step) || !isCount(step.holdMs)) return false;
  const { share, labels, shadow } = step;
  if (shadow !== undefined) return shadow === true;
  return typeof share === 'number' ? share > 0 && share <= 100 : isTexts(labels);
}
