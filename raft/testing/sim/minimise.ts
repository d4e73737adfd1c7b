// Cuts a failing seed's list of faults down to those that are needed for the same promise to break.
import type { Plan } from './plan.ts';
import type { RunResult } from './world.ts';

type Run = (plan: Plan) => RunResult | Promise<RunResult>;

/** Runs the plan again and again, at most `maxRuns` times. */
export async function minimise(plan: Plan, rule: string, run: Run, maxRuns = 300): Promise<Plan> {
  let smallest = plan;
  let runs = 0;
  const stillFails = async (faults: Plan['faults']) => {
    runs += 1;
    return (await run({ ...plan, faults })).violation?.rule === rule;
  };
  for (
    let size = Math.ceil(plan.faults.length / 2);
    size >= 1 && runs < maxRuns;
    size = size > 1 ? Math.ceil(size / 2) : 0
  ) {
    for (let from = 0; from < smallest.faults.length && runs < maxRuns; ) {
      const faults = smallest.faults.filter((_, at) => at < from || at >= from + size);
      if (await stillFails(faults)) smallest = { ...smallest, faults };
      else from += size;
    }
  }
  return smallest;
}
