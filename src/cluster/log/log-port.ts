// Messages between the main thread and the owner of the log (architecture.md §7). The owner is the raft worker, behind
// `RaftLog`. Commands are opaque bytes on this line.
import type { DiskProblem } from '../../../disk/disk-problem.ts';
import {
  identityOf,
  type Outcome,
  type Committed as RaftCommitted,
  type Refusal as RaftRefusal,
  type RoleReport,
} from '../../../raft/index.ts';

/** Why a proposal has no index, and whether it can have had an effect. */
export interface Refusal {
  readonly outcome: 'not-applied' | 'unknown';
  readonly reason: string;
}

/** `index`: of a proposal, it is in the log for good and is applied with everything up to there; of a read, where to read. */
export type LogAnswer =
  | { readonly is: 'agreed'; readonly index: number }
  | { readonly is: 'refused'; readonly refused: Refusal };

export interface CommittedEntry {
  readonly index: number;
  readonly bytes: Uint8Array;
  /** Log time, Unix ms: never smaller than that of the entry before. Absent: the command's own counts. */
  readonly time?: number;
}

export interface Committed {
  readonly type: 'committed';
  readonly first: number;
  readonly last: number;
  /** Term of the entry at `last`. */
  readonly term: number;
  /** Wall clock of the leader at the last entry, Unix ms. Says how far behind a node is; apply takes each command's own. */
  readonly logTime: number;
  /** Ascending by index. Indexes of the range that are not here hold nothing for the state machine. */
  readonly entries: readonly CommittedEntry[];
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
  propose(bytes: Uint8Array, ended: (answer: LogAnswer) => void): void;
  /** Asks for an index that covers everything acknowledged before now; `answered` is called once. */
  read(answered: (answer: LogAnswer) => void): void;
  /** Everything up to `index` is visible; gives credit for the next `committed`. */
  applied(index: number): void;
  /** Hand nothing over any more, and answer what is pending. */
  stop(): unknown;
  /** One receiver. */
  receive(receiver: (message: FromLog) => void): void;
}

/** Refusal by a leader while there is still room for commands under way. Tries do not help; room does. */
export const diskFull = 'disk full' satisfies RaftRefusal;

const noQuorum: Refusal = { outcome: 'not-applied', reason: 'no quorum could be reached' };

export function committedMessage({ first, last, term, logTime, entries }: RaftCommitted): FromLog {
  const commands = entries.map(({ index, payload, time }) => ({ index, bytes: payload, time }));
  return { type: 'committed', first, last, term, logTime, entries: commands };
}

export function answerOf(outcome: Outcome): LogAnswer {
  if (outcome.kind === 'committed') return { is: 'agreed', index: outcome.index };
  const { kind, why } = outcome;
  return { is: 'refused', refused: { outcome: kind === 'unknown' ? 'unknown' : 'not-applied', reason: why } };
}

/** Without an index no quorum confirmed it. */
export const readAnswer = (index: number | undefined): LogAnswer =>
  index === undefined ? { is: 'refused', refused: noQuorum } : { is: 'agreed', index };

export const roleMessage = ({ role, leader, config }: RoleReport): FromLog => ({
  type: 'role',
  role: role === 'preCandidate' ? 'candidate' : role,
  leader: leader && { nodeId: identityOf(leader.id).nodeId, address: leader.clientAddress },
  soleVoter: config.voters.length === 1 && config.outgoing.length === 0,
});

export const fatalMessage = (reason: string): FromLog => ({ type: 'fatal', reason: `storage failed: ${reason}` });
