// The members of the cluster as the operations of the API see them: who is in it, and how that changes.
// `RaftLog` is the one that implements it.
import type { MemberId, MemberStatus, MembershipChange, Outcome } from '../../raft/index.ts';

export interface Cluster {
  /** False without a `raft` section: a cluster of one that nobody can join. */
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
