// A progressive activation as the cluster agreed on it (fleet.md §7). Everything that a new leader needs to go on is in
// here; what it measures is not.
import type { RolloutEvent, ShadowCounts, ShownRollout } from '../model/answers/rollout-answers.ts';

/** Share of the candidate during a step, and the least duration of the step. */
export type RolloutStep =
  /** Percent, above 0 and at most 100. */
  | { readonly share: number; readonly holdMs: number }
  /** All proxies with these labels, whole. */
  | { readonly labels: Readonly<Record<string, string>>; readonly holdMs: number }
  /** No share: requests that stable serves are matched against it. Before all others. */
  | { readonly shadow: true; readonly holdMs: number };

/** Key by which clients stay together. */
export type ShareKey = { readonly clientIp: true } | { readonly header: string } | { readonly cookie: string };

export interface RolloutPlan {
  /** At least one; the last one has share 100, unless all are shadow steps. */
  readonly steps: readonly RolloutStep[];
  readonly by: 'client' | 'proxy';
  readonly key: ShareKey;
  /** During shadow steps one request in so many is compared. Absent: all. */
  readonly shadowSample?: number;
  /** CEL. All must hold. */
  readonly guards: readonly string[];
  readonly minRequests: number;
  readonly checkIntervalMs: number;
  readonly failures: number;
  readonly onFail: 'rollback' | 'pause';
  readonly deadmanMs: number;
  readonly maxStepMs: number;
}

export interface Rollout {
  readonly id: string;
  readonly snapshotId: string;
  readonly name: string;
  readonly sha256: string | null;
  readonly plan: RolloutPlan;
  readonly comment: string | null;
  /** Name of the API key that started it. */
  readonly by: string | null;
  readonly state: ShownRollout['state'];
  /** Index into `plan.steps`. */
  readonly step: number;
  /** Log index at which it was started. */
  readonly startedAt: number;
  /** Log index of the last command that changed step or state: a decision about an earlier one comes too late. */
  readonly epoch: number;
  /** Oldest first; the last 200. */
  readonly events: readonly RolloutEvent[];
  /** Counts at the end of each shadow step that the leader ended. Absent: none. */
  readonly shadows?: readonly StepShadow[];
}

interface StepShadow {
  /** Index into `plan.steps`. */
  readonly step: number;
  readonly counts: ShadowCounts;
}

/** Rollouts that are over and still listed. */
export const finishedMax = 100;
export const eventsMax = 200;

/** Its candidate is in the world. */
export const isUnderWay = ({ state }: Rollout): boolean => state === 'running' || state === 'paused';

export const isShadow = (step: RolloutStep | undefined): boolean => step !== undefined && 'shadow' in step;

/** Some step serves clients: then the end of the last one activates the snapshot. */
export const isServing = ({ steps }: Pick<RolloutPlan, 'steps'>): boolean => steps.some((step) => !isShadow(step));

/** The snapshot was activated by it. */
export const isActivated = ({ state, plan }: Pick<Rollout, 'state' | 'plan'>): boolean =>
  state === 'completed' && isServing(plan);

/** Percent of all clients or proxies; 0 where labels choose the proxies, and in shadow steps. */
export function shareOf({ plan, step, state }: Pick<Rollout, 'plan' | 'step' | 'state'>): number {
  if (state === 'completed') return isServing(plan) ? 100 : 0;
  if (state === 'rolledBack' || state === 'aborted') return 0;
  const now = plan.steps[step];
  return now !== undefined && 'share' in now ? now.share : 0;
}
