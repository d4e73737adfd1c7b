// Checks after every run with faults: both checkers of raft/testing/history explain the answers to clients, and the
// nodes end with the same state.
import { expect } from 'chai';
import { checkRevisionOrder } from '../../raft/testing/history/revision-order.ts';
import { searchOrder } from '../../raft/testing/history/search.ts';
import type { NodeCluster } from './node-cluster.ts';
import type { RegisterClients } from './register-clients.ts';
import { stateOf } from './stored-state.ts';

export interface Counted {
  readonly acknowledged: number;
  readonly reads: number;
  readonly failures: Readonly<Record<string, number>>;
}

/** Ends the clients and throws unless their history is linearizable. */
export async function expectLinearizable(clients: RegisterClients): Promise<Counted> {
  await clients.stop();
  const { history, effects, wrong, failures } = clients;
  expect(wrong).to.deep.equal([]);
  const log = new Array<number>(Math.max(0, ...effects.keys())).fill(0);
  for (const [index, op] of effects) log[index - 1] = op;
  expect(checkRevisionOrder(history, log)).to.deep.equal([]);
  expect(searchOrder(history)).to.equal('linearizable');
  const reads = history.filter(({ kind }) => kind === 'read').length;
  return { acknowledged: clients.acknowledgedAt.length, reads, failures: Object.fromEntries(failures) };
}

/**
 * Stops all nodes, which run, once each has applied the newest entry, and compares their states. In order, for a
 * store follows the log; the leader last, for it would hand over, and the next leader writes an entry.
 */
export async function expectSameState({ nodes }: Pick<NodeCluster, 'nodes'>): Promise<void> {
  const [first] = nodes;
  const { body } = (await first?.api.get<{ applied: number; leader: string | null }>('/cluster')) ?? {};
  const last = await first?.api.post('/groups', { name: `the last one after ${body?.applied}` });
  const revision = Number(last?.headers.get('x-sluice-revision'));
  for (const { api } of nodes) expect((await api.get(`/groups?minRevision=${revision}`)).status).to.equal(200);
  await Promise.all(nodes.map((node) => (node.nodeId === body?.leader ? undefined : node.stop('SIGTERM'))));
  await Promise.all(nodes.map((node) => node.stop('SIGTERM')));
  const states = await Promise.all(nodes.map(({ storePath }) => stateOf(storePath)));
  expect(new Set(states.map(({ applied, hash }) => `${applied} ${hash}`)).size, JSON.stringify(states)).to.equal(1);
  expect(states[0]?.applied).to.be.at.least(revision);
}

/** For each instant, the longest time without an acknowledged write between it and the next one, ascending, in ms. */
export function gapsAfter(instants: readonly number[], acknowledgedAt: readonly number[]): number[] {
  const gaps = instants.map((instant, at) => {
    const until = instants[at + 1] ?? Number.POSITIVE_INFINITY;
    const inside = acknowledgedAt.filter((time) => time >= instant && time < until);
    return longestPause([instant, ...inside]);
  });
  return gaps.sort((a, b) => a - b);
}

export function longestPause(times: readonly number[]): number {
  return Math.max(0, ...times.slice(1).map((time, at) => time - (times[at] ?? time)));
}

/** Quantile of values in ascending order. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
