// Builds small clusters of cores for tests, and says in one line how they stand.
import { AdapterCluster } from '../../../../raft/testing/adapter/adapter-cluster.ts';
import type { NodeOptions } from '../../../../raft/testing/adapter/adapter-node.ts';

export const everyProtection: NodeOptions = { prevote: true, checkquorum: true };

/** `n` voters that hold a checkpoint at index 10. */
export function clusterOf(n: number, opts: NodeOptions = {}): AdapterCluster {
  const cluster = new AdapterCluster();
  cluster.addNodes({ n, voters: Array.from({ length: n }, (_, at) => at + 1), index: 10, opts });
  return cluster;
}

/** Node 1 leads, and everyone knows. */
export function ledByFirst(n: number, opts: NodeOptions = {}): AdapterCluster {
  const cluster = clusterOf(n, opts);
  cluster.node(1).core.campaign();
  cluster.stabilize();
  return cluster;
}

export function propose(cluster: AdapterCluster, id: number, text: string): boolean {
  const [result] = cluster.node(id).core.propose([{ payload: new TextEncoder().encode(text), time: 0 }]);
  return result?.kind === 'appended';
}

export function tick(cluster: AdapterCluster, id: number, ticks: number): void {
  for (let i = 0; i < ticks; i += 1) cluster.node(id).core.tick();
}

/** `leader t1 c11/11`: role, term, commit and last index. */
export function line(cluster: AdapterCluster, id: number): string {
  const { role, term, log } = cluster.node(id).core.inspect();
  return `${role} t${term} c${log.committed}/${log.lastIndex}`;
}
