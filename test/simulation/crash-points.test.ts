import { type CrashPoint, crashPointPlan } from '../../raft/testing/sim/plan.ts';
import { World } from '../../raft/testing/sim/world.ts';

const seed = 1;

/** False when the machine did not make so many writes before the phase of peace. */
function strikes(crashPoint: CrashPoint): boolean {
  const { violation, faults } = new World(crashPointPlan(seed, crashPoint)).run();
  const where = `${crashPoint.when} write ${crashPoint.write} of machine ${crashPoint.slot + 1}`;
  if (violation !== undefined) throw new Error(`power lost ${where}: ${violation.message}`);
  return faults.has('powerLoss');
}

function survivesAll(slot: number, when: CrashPoint['when']): void {
  let write = 1;
  while (strikes({ slot, write, when })) write += 1;
  if (write < 20) throw new Error(`machine ${slot + 1} wrote its log only ${write - 1} times`);
}

describe('raft with one machine losing power', () => {
  for (const when of ['before', 'after'] as const) {
    for (const slot of [0, 1, 2, 3])
      it(`keeps every promise ${when} each log write of machine ${slot + 1}`, () => survivesAll(slot, when));
  }
});
