// Health of the cluster in a few words, from what the leader sees.
import type { Cluster } from '../lib/types.ts';
import type { Tone } from '../parts/basics.tsx';

export function healthOf(cluster: Cluster | undefined, problem: string | undefined): { tone: Tone; text: string } {
  if (cluster === undefined)
    return problem === undefined ? { tone: 'plain', text: 'Looking' } : { tone: 'bad', text: problem };
  if (cluster.leader === null) return { tone: 'bad', text: 'No leader' };
  if (!cluster.clustered) return { tone: 'good', text: 'One node' };
  const lost = cluster.members.filter((member) => member.healthy === false).length;
  if (lost > 0) return { tone: 'warn', text: `${lost} of ${cluster.members.length} nodes unreachable` };
  return { tone: 'good', text: `${cluster.members.length} nodes` };
}
