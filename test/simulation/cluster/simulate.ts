// `npm run simulate:cluster -- --seeds N [--from S] [--nodes 1..7] [--minutes M] [--plan file]`: whole nodes by seed.
import { campaign } from '../../../raft/testing/commands/campaign.ts';
import { addCounts, drawClusterPlan, noCounts, runCluster } from './run-cluster.ts';

let counts = noCounts;

await campaign({
  command: 'npm run simulate:cluster',
  draw: drawClusterPlan,
  async run(plan) {
    const result = await runCluster(plan);
    counts = addCounts(counts, result.counts);
    return result;
  },
  report: () =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', '),
});
