// Members of the cluster as the operations of the API see them, and their changes. `RaftLog` implements it.

import type { MemberId, MemberStatus, MembershipChange, Outcome } from '../../../raft/index.ts';
import type { Clock } from '../../util/clock.ts';

export interface Cluster {
  /** False without a `raft` section: a cluster of one that no node can join. */
  readonly clustered: boolean;
  /** Id of the cluster this node belongs to; undefined until it belongs to one. */
  readonly clusterId: string | undefined;
  /** Undefined while this node belongs to no cluster, and after the end. */
  status(): Promise<MemberStatus | undefined>;
  /** Ends once the change is in force, all of it or none. On a node that does not lead: not applied, `not leader`. */
  change(change: MembershipChange, options?: { readonly force?: boolean }): Promise<Outcome>;
  /** Hands leadership to `to`, or to the most up-to-date voter. Nothing happens on a node that does not lead. */
  transfer(to: MemberId | undefined): void;
}

const lookMs = 10;

/**
 * Hands leadership over before a leader stops, so that clients that wait for its drain have a leader all the time: this
 * node takes requests until the end, and relays their writes. Resolves once another node leads, at once if no other
 * can, and after `withinMs` in any case.
 */
export async function handOver(cluster: Cluster, clock: Clock, withinMs: number): Promise<void> {
  const end = clock.monotonicMs() + withinMs;
  const before = await cluster.status();
  if (before?.role !== 'leader') return;
  const canLead = before.peers.some(({ id, heard }) => heard && before.config.voters.includes(id));
  if (!canLead) return;
  cluster.transfer(undefined);
  while (clock.monotonicMs() < end) {
    const leader = (await cluster.status())?.leader;
    if (leader !== undefined && leader !== before.id) return;
    await new Promise<void>((resolve) => void clock.after(lookMs, resolve));
  }
}
