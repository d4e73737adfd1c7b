// Output of the core for its driver. The core changes nothing outside itself: it returns these, in order.
import type { Message } from './message.ts';
import type { CheckpointMeta, Config, Entry, HardState, Index, MemberId, Term } from './types.ts';

export type Role = 'follower' | 'preCandidate' | 'candidate' | 'leader';

/** One atomic change of the log database. */
export interface Persist {
  readonly hardState: HardState | undefined;
  /** Delete every entry at or above this index before `entries` are added. */
  readonly truncateFrom: Index | undefined;
  /** Contiguous. */
  readonly entries: readonly Entry[];
  /** Replace the whole log by this checkpoint; `entries` follow it. */
  readonly install: CheckpointMeta | undefined;
}

export interface CoreOutput {
  /** Strictly increasing. Outputs are persisted in this order, and reported back with `persisted(seq)`. */
  readonly seq: number;
  readonly persist: Persist | undefined;
  /** False when the commit index is all that changes: it may reach the disk with the next synced write. */
  readonly sync: boolean;
  /** May leave at once, while the disk works. */
  readonly sendNow: readonly Message[];
  /** Assert something about this node's disk: leave when this output and all before it are durable. */
  readonly sendAfterPersist: readonly Message[];
  /** These entries may be applied: committed, and durable here. */
  readonly apply: { readonly from: Index; readonly to: Index } | undefined;
  /** Answered reads: the state at or after `index` may be shown; without index the read was refused. */
  readonly reads: readonly { readonly id: number; readonly index: Index | undefined }[];
  /** Peers that need a checkpoint before entries make sense to them. */
  readonly checkpointsFor: readonly MemberId[];
  /** A leader offers this checkpoint, and this node needs it: fetch, verify, build the state, then `checkpointReady`. */
  readonly fetch: { readonly from: MemberId; readonly meta: CheckpointMeta; readonly transfer: number } | undefined;
  readonly events: readonly CoreEvent[];
}

export type CoreEvent =
  | { readonly type: 'role'; readonly role: Role; readonly term: Term; readonly leader: MemberId | undefined }
  | { readonly type: 'commit'; readonly index: Index }
  | { readonly type: 'config'; readonly index: Index; readonly config: Config }
  | { readonly type: 'progress'; readonly peer: MemberId; readonly state: ProgressState }
  | { readonly type: 'elected'; readonly term: Term; readonly votes: readonly MemberId[] }
  | { readonly type: 'truncated'; readonly from: Index }
  | { readonly type: 'removed'; readonly index: Index }
  /**
   * A leader has vouched for this node, which was suspect: entries it may have lost are here again, or are not needed.
   */
  | { readonly type: 'trusted' }
  /**
   * Data loss: this node, by the traces on its disk and the claim of its leader, or with `peer` another one, lost data
   * that it had acknowledged.
   */
  | { readonly type: 'lostData'; readonly peer: MemberId | undefined; readonly acked: Index; readonly last: Index }
  /** The configurations that this node knows do not name the sender, or not as a voter. */
  | { readonly type: 'stranger'; readonly from: MemberId; readonly message: Message['type'] }
  /** Message with impossible content. No part of it is taken. */
  | { readonly type: 'refused'; readonly from: MemberId; readonly message: Message['type']; readonly why: string }
  | { readonly type: 'ignored'; readonly message: Message['type']; readonly why: string };

export type ProgressState = 'probe' | 'replicate' | 'checkpoint';
