// One seed of whole nodes, from its plan to its verdict.
import { Chance } from '../../../raft/testing/sim/chance.ts';
import { drawPlan, type PlanOptions } from '../../../raft/testing/sim/draw-plan.ts';
import type { TimedFault } from '../../../raft/testing/sim/fault.ts';
import type { Plan } from '../../../raft/testing/sim/plan.ts';
import { type RunResult, World } from '../../../raft/testing/sim/world.ts';
import { ClusterProgram, type Counts } from './cluster-program.ts';
import { givenUpRelayPlan } from './given-up-relay-plan.ts';

export interface ClusterResult extends RunResult {
  readonly counts: Counts;
}

/**
 * The plan of raft's simulator, and in most seeds wall clocks that leap ahead by hours, in some by more than a day. One seed
 * in 25 gets a plan that is made for the relay.
 */
export function drawClusterPlan(seed: number, options: PlanOptions = {}): Plan {
  const plan = drawPlan(seed, options);
  const chance = new Chance(seed ^ 0x6a09e667);
  if (seed % 25 === 13 && options.nodes === undefined) return givenUpRelayPlan(seed, chance, plan.tuning);
  const leaps = plan.calm === undefined && chance.happens(0.6) ? chance.integer(1, 4) : 0;
  const leapMs = chance.pick([1, 1, 15]) * 7_200_000;
  const faults: TimedFault[] = Array.from({ length: leaps }, () => ({
    at: chance.below(plan.safetyMs),
    fault: { kind: 'clockJump', slot: chance.below(plan.nodes), ms: chance.fraction() * leapMs },
  }));
  return { ...plan, faults: [...plan.faults, ...faults].sort((one, other) => one.at - other.at) };
}

export async function runCluster(plan: Plan): Promise<ClusterResult> {
  const programs: ClusterProgram[] = [];
  const world = new World(plan, (programWorld) => {
    const program = new ClusterProgram(programWorld);
    programs.push(program);
    return program;
  });
  const result = await world.settled();
  const [counts] = programs.map((program) => program.counts);
  if (counts === undefined) throw new Error('the world has no program');
  return { ...result, counts };
}
