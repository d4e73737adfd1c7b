// Messages between the main thread and the owner of the log (architecture.md §7). The owner is the raft worker, behind
// `RaftLog`. Commands are opaque bytes on this line.
import type { DiskProblem } from '../../../disk/disk-problem.ts';
import {
  identityOf,
  type Outcome,
  type Committed as RaftCommitted,
  type Refusal,
  type RoleReport,
} from '../../../raft/index.ts';

/** Commands that are in the log for good. The state machine has nothing to do at the other indexes of the range. */
export interface Committed {
  readonly type: 'committed';
  readonly batch: RaftCommitted;
}

/** The log counts on this generation of the state now, which holds everything up to `index`. */
export interface Adopted {
  readonly type: 'adopt';
  readonly generation: number;
  readonly index: number;
}

/** Leader, by name and by the API address that it advertises (`host:port`, or empty). */
export interface Leader {
  readonly nodeId: string;
  readonly address: string;
}

export type FromLog =
  | Committed
  | Adopted
  | {
      readonly type: 'role';
      readonly role: 'leader' | 'follower' | 'candidate';
      readonly leader: Leader | undefined;
      /** True while one member alone has a vote: no other node can come to lead. */
      readonly soleVoter: boolean;
    }
  /** Why the log cannot be written for the time being; undefined: it can again. */
  | { readonly type: 'disk'; readonly problem: DiskProblem | undefined }
  /** Others go on without this node. What it has may still be read as it is. */
  | { readonly type: 'removed'; readonly reason: string }
  | { readonly type: 'fatal'; readonly reason: string };

/** Nothing comes back within a call of it, and what comes back comes in order. */
export interface LogPort {
  /** Hands a command over; `ended` is called once. Each call is an attempt of its own, even for equal bytes. */
  propose(bytes: Uint8Array, ended: (outcome: Outcome) => void): void;
  /** Asks for an index that covers everything acknowledged before now; `answered` is called once, without one for no quorum. */
  read(answered: (index: number | undefined) => void): void;
  /** Everything up to `index` is visible; gives credit for the next `committed`. */
  applied(index: number): void;
  /** Hand nothing over any more, and answer what is pending. */
  stop(): unknown;
  /** One receiver. */
  receive(receiver: (message: FromLog) => void): void;
}

/** Refusal by a leader while there is still room for commands under way. Tries do not help; room does. */
export const diskFull = 'disk full' satisfies Refusal;

/** A proposal that got no index, as callers and other nodes are told of it. */
export const failureOf = ({ kind, why }: Exclude<Outcome, { readonly kind: 'committed' }>) => ({
  outcome: kind === 'unknown' ? ('unknown' as const) : ('not-applied' as const),
  reason: why,
});

export const roleMessage = ({ role, leader, config }: RoleReport): FromLog => ({
  type: 'role',
  role: role === 'preCandidate' ? 'candidate' : role,
  leader: leader && { nodeId: identityOf(leader.id).nodeId, address: leader.clientAddress },
  soleVoter: config.voters.length === 1 && config.outgoing.length === 0,
});

export const fatalMessage = (reason: string): FromLog => ({ type: 'fatal', reason: `storage failed: ${reason}` });
