// Whole nodes in simulated time: state, proposer and relay of the product over raft, under raft's faults.
import { expect } from 'chai';
import { type ClusterResult, drawClusterPlan, runCluster } from './cluster/run-cluster.ts';

const seeds = 12;
const repeated = [2, 11];

describe('whole nodes in the simulator', function () {
  // Minutes on a machine that is busy with others.
  this.timeout(600_000);

  it(`keep every promise for seeds 1 to ${seeds}`, async () => {
    for (let seed = 1; seed <= seeds; seed += 1) await keepsEveryPromise(seed);
  });

  it('keep every promise for seed 213: writes whose relay is given up for a leader that no node reaches', () =>
    keepsEveryPromise(213));

  it('run a seed the same way each time', async () => {
    for (const seed of repeated) {
      const [one, other] = [await run(seed), await run(seed)];
      expect([other.hash, other.events], replay(seed)).to.deep.equal([one.hash, one.events]);
    }
  });
});

const run = (seed: number): Promise<ClusterResult> => runCluster(drawClusterPlan(seed));

async function keepsEveryPromise(seed: number): Promise<void> {
  const { violation, acknowledged, hasPeace } = await run(seed);
  if (violation !== undefined) throw new Error(`seed ${seed} breaks ${violation.message}; ${replay(seed)}`);
  // A cluster that does nothing keeps every promise.
  if (hasPeace && acknowledged === 0) throw new Error(`seed ${seed} acknowledged no write; ${replay(seed)}`);
}

const replay = (seed: number): string => `replay: npm run simulate:cluster -- --seeds 1 --from ${seed}`;
