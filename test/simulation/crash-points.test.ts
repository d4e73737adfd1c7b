import { expect } from 'chai';
import { crashPointPlan } from '../../raft/testing/sim/directed-plans.ts';
import type { CrashMoment, DiskOperation } from '../../raft/testing/sim/disk-operations.ts';
import type { CrashPoint } from '../../raft/testing/sim/plan.ts';
import { type RunResult, World } from '../../raft/testing/sim/world.ts';

/** SLUICE_CRASH_POINTS=N: so many seeds instead of one, and for each both kinds of power loss. */
const seeds = Number(process.env.SLUICE_CRASH_POINTS ?? '1');
const machines = [0, 1, 2, 3];

const everyKind: readonly DiskOperation[] = [
  ...(['start', 'log', 'state', 'create', 'write', 'sync', 'rename', 'syncDirectory', 'remove'] as const),
];

function run(seed: number, keepsUnsynced: boolean, crashPoint?: CrashPoint): RunResult {
  const result = new World(crashPointPlan(seed, keepsUnsynced, crashPoint)).run();
  if (result.violation === undefined) return result;
  const { operation, slot, when } = crashPoint ?? { operation: 0, slot: 0, when: 'before' };
  const where = `${when} operation ${operation} of machine ${slot + 1}, seed ${seed}`;
  throw new Error(`power lost ${where}: ${result.violation.message}`);
}

/** Until the machine does nothing more before the phase of peace. */
function survivesAll(seed: number, keepsUnsynced: boolean, slot: number, when: CrashMoment): void {
  let operation = 1;
  while (run(seed, keepsUnsynced, { slot, operation, when }).faults.has('powerLoss')) operation += 1;
  expect(operation).to.be.greaterThan(50);
}

describe('raft with one machine losing power', function () {
  this.timeout(seeds * 120_000);

  for (let seed = 1; seed <= seeds; seed += 1) {
    it(`makes twenty writes and every kind of disk operation without it, seed ${seed}`, () => {
      const { acknowledged, diskOperations } = run(seed, false);
      expect(acknowledged).to.be.at.least(20);
      for (const kind of everyKind)
        expect(diskOperations.some((counts) => (counts.get(kind) ?? 0) > 0)).to.equal(true, kind);
    });

    for (const slot of machines) {
      for (const when of ['before', 'after'] as const) {
        for (const keepsUnsynced of seeds > 1 ? [false, true] : [when === 'after']) {
          const what = keepsUnsynced ? 'some' : 'all';
          it(`keeps every promise ${when} each disk operation of machine ${slot + 1}, losing ${what} unsynced bytes, seed ${seed}`, () =>
            survivesAll(seed, keepsUnsynced, slot, when));
        }
      }
    }
  }
});
