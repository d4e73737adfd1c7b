// One seed of whole nodes, from its plan to its verdict.
import { Chance } from '../../../raft/testing/sim/chance.ts';
import { drawPlan, type Plan, type PlanOptions } from '../../../raft/testing/sim/plan.ts';
import { type RunResult, World } from '../../../raft/testing/sim/world.ts';
import { ClusterProgram, type Counts } from './cluster-program.ts';

export interface ClusterResult extends RunResult {
  readonly counts: Counts;
}

/** The plan of raft's simulator; in some seeds wall clocks leap by more than a day. */
export function drawClusterPlan(seed: number, options: PlanOptions = {}): Plan {
  const plan = drawPlan(seed, options);
  const leap = new Chance(seed ^ 0x6a09e667).pick([1, 1, 15]);
  const faults = plan.faults.map(({ at, fault }) =>
    fault.kind === 'clockJump' ? { at, fault: { ...fault, ms: fault.ms * leap } } : { at, fault },
  );
  return { ...plan, faults };
}

export async function runCluster(plan: Plan): Promise<ClusterResult> {
  const programs: ClusterProgram[] = [];
  const world = new World(plan, (programWorld) => {
    const program = new ClusterProgram(programWorld);
    programs.push(program);
    return program;
  });
  const result = await world.settled();
  return { ...result, counts: programs.map(({ counts }) => counts).reduce(addCounts, noCounts) };
}

export const noCounts: Counts = {
  relayed: 0,
  relayedAgain: 0,
  askedAgain: 0,
  installed: 0,
  failedWrites: 0,
  leapsOfHours: 0,
};

export const addCounts = (a: Counts, b: Counts): Counts => ({
  relayed: a.relayed + b.relayed,
  relayedAgain: a.relayedAgain + b.relayedAgain,
  askedAgain: a.askedAgain + b.askedAgain,
  installed: a.installed + b.installed,
  failedWrites: a.failedWrites + b.failedWrites,
  leapsOfHours: a.leapsOfHours + b.leapsOfHours,
});
