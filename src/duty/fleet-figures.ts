// Where a rollout's figures come from: what all proxies of the fleet report, summed up. Handed in, for a duty only decides.
import type { GuardInput } from '../expression/cel/roots.ts';

/** Over all proxies since the step began. */
export type StepFigures = Pick<GuardInput, 'candidate' | 'stable' | 'proxies'>;

export interface FleetFigures {
  /** A step begins for the leader of this moment: figures count from here on. `epoch` names it. */
  begin(rollout: string, epoch: number): void;
  /** Of the step that began last; undefined when they cannot be had now, which no guard passes. */
  figures(): StepFigures | undefined;
}

const nothing = {
  requests: 0,
  serverErrors: 0,
  clientErrors: 0,
  proxyErrors: 0,
  errorRate: 0,
  p50Ms: 0,
  p95Ms: 0,
  p99Ms: 0,
  meanMs: 0,
} as const;

/** Of a fleet in which nobody serves candidates: no request was ever seen, so no step ends that waits for one. */
export const noFigures: FleetFigures = {
  begin: () => undefined,
  figures: () => ({ candidate: nothing, stable: nothing, proxies: { total: 0, installed: 0, refused: 0 } }),
};
