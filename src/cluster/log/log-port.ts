// What the main thread and the owner of the log say to each other (architecture.md §7). The owner is the raft worker,
// behind `RaftLog`. Commands are opaque bytes on this line.
import { identityOf, type Outcome, type Committed as RaftCommitted, type RoleReport } from '../../../raft/index.ts';

export type ToLog =
  /** Hands a command over. `id` names this attempt on this line only. */
  | { readonly type: 'propose'; readonly id: number; readonly bytes: Uint8Array }
  /** Asks for an index that covers everything acknowledged before now. */
  | { readonly type: 'read'; readonly id: number }
  /** Everything up to `index` is visible; gives credit for the next `committed`. */
  | { readonly type: 'applied'; readonly index: number }
  /** Hand nothing over any more, and answer what is pending. */
  | { readonly type: 'stop' };

/** Why a proposal has no index, and whether it can have had an effect. */
export interface Refusal {
  readonly outcome: 'not-applied' | 'unknown';
  readonly reason: string;
}

export interface CommittedEntry {
  readonly index: number;
  readonly bytes: Uint8Array;
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

/** Who leads, by name and by the API address that it advertises (`host:port`, or empty). */
export interface Leader {
  readonly nodeId: string;
  readonly address: string;
}

export type FromLog =
  | Committed
  | Adopted
  | { readonly type: 'outcome'; readonly id: number; readonly index: number }
  | { readonly type: 'outcome'; readonly id: number; readonly refused: Refusal }
  | { readonly type: 'readable'; readonly id: number; readonly index: number }
  | { readonly type: 'readable'; readonly id: number; readonly refused: Refusal }
  | { readonly type: 'role'; readonly role: 'leader' | 'follower' | 'candidate'; readonly leader: Leader | undefined }
  | { readonly type: 'fatal'; readonly reason: string };

export interface LogPort {
  post(message: ToLog): void;
  /** One receiver; messages come in order, never within a call of `post`. */
  receive(receiver: (message: FromLog) => void): void;
}

const noQuorum: Refusal = { outcome: 'not-applied', reason: 'no quorum could be reached' };

export function committedMessage({ first, last, term, logTime, entries }: RaftCommitted): FromLog {
  const commands = entries.map(({ index, payload }) => ({ index, bytes: payload }));
  return { type: 'committed', first, last, term, logTime, entries: commands };
}

export function outcomeMessage(id: number, outcome: Outcome): FromLog {
  if (outcome.kind === 'committed') return { type: 'outcome', id, index: outcome.index };
  const { kind, why } = outcome;
  return { type: 'outcome', id, refused: { outcome: kind === 'unknown' ? 'unknown' : 'not-applied', reason: why } };
}

/** Without an index no quorum confirmed it. */
export const readableMessage = (id: number, index: number | undefined): FromLog =>
  index === undefined ? { type: 'readable', id, refused: noQuorum } : { type: 'readable', id, index };

export const roleMessage = ({ role, leader }: RoleReport): FromLog => ({
  type: 'role',
  role: role === 'preCandidate' ? 'candidate' : role,
  leader: leader && { nodeId: identityOf(leader.id).nodeId, address: leader.clientAddress },
});

export const fatalMessage = (reason: string): FromLog => ({ type: 'fatal', reason: `storage failed: ${reason}` });
