// `npm run simulate:cluster -- --seeds N [--from S] [--nodes 1..7] [--minutes M] [--plan file]`: whole nodes by seed.
import { campaign } from '../../../raft/testing/commands/campaign.ts';
import { drawClusterPlan, runCluster } from './run-cluster.ts';

const totals = new Map<string, number>();

await campaign({
  command: 'npm run simulate:cluster',
  draw: drawClusterPlan,
  async run(plan) {
    const result = await runCluster(plan);
    for (const [name, count] of Object.entries(result.counts)) totals.set(name, (totals.get(name) ?? 0) + count);
    return result;
  },
  report: () => Array.from(totals, ([name, count]) => `${name} ${count}`).join('\n'),
});
