// Figures of a rollout: the reports of all proxies of the fleet, summed up. Handed in, because a controller only decides.
import type { GuardInput } from '../expression/cel/roots.ts';
import type { Problem } from '../model/problem.ts';

/** Over all proxies since the step began. */
export type StepFigures = Pick<GuardInput, 'candidate' | 'stable' | 'proxies' | 'mirror' | 'shadow'>;

export interface CountedRefusal {
  readonly proxy: string;
  readonly problems: readonly Problem[];
}

export interface FleetFigures {
  /** A step begins for the leader of this moment: figures count from here on. `epoch` names it. */
  begin(rollout: string, epoch: number): void;
  /** Returns the figures of the step that began last; undefined when they cannot be had now, which no guard passes. */
  figures(): StepFigures | undefined;
  /** Proxies that refuse the candidate, with their first problems. */
  refusals(): readonly CountedRefusal[];
}
