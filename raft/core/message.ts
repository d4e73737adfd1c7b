// Messages between members. Their fields are the content of the wire format; framing, checksums and protocol versions
// belong to raft/codec, connections and greetings to the transport.
import type { CheckpointMeta, Entry, Index, MemberId, Term } from './types.ts';

interface Header {
  /** 32 hex digits. A message of another cluster is dropped and counted. */
  readonly clusterId: string;
  readonly from: MemberId;
  readonly to: MemberId;
  /** The sender's term; in `preVote` and a granted `preVoteResp` the term that is campaigned for. */
  readonly term: Term;
}

interface VoteFields extends Header {
  readonly lastIndex: Index;
  readonly lastTerm: Term;
  /** Random per start and campaign: an answer to an earlier life of the candidate is not counted. */
  readonly nonce: number;
}

/** Wall clock of the sender, Unix milliseconds; the driver stamps it. */
interface ClockField {
  readonly clock?: number;
}

/** Tells the clock too: the winner of an election knows those of a majority before its first entry has a time. */
interface VoteAnswer extends Header, ClockField {
  readonly granted: boolean;
  readonly nonce: number;
}

/**
 * Commit position known to the sender: a receiver that waits for the fate of a configuration may have no other source.
 */
interface CommitFields {
  readonly commit: Index;
  readonly commitTerm: Term;
}

export interface PreVote extends VoteFields, CommitFields {
  readonly type: 'preVote';
}

export interface PreVoteResp extends VoteAnswer, CommitFields {
  readonly type: 'preVoteResp';
}

export interface Vote extends VoteFields {
  readonly type: 'vote';
  /** The leader asked for this campaign: voters do not hold on to it. */
  readonly transfer: boolean;
}

export interface VoteResp extends VoteAnswer {
  readonly type: 'voteResp';
}

export interface Append extends Header {
  readonly type: 'append';
  readonly prevIndex: Index;
  readonly prevTerm: Term;
  readonly entries: readonly Entry[];
  readonly commit: Index;
  /**
   * Numbers the sender's appends to this peer; echoed, so that late refusals are recognised. 0: it carries the commit
   * index alone, and only a refusal is answered.
   */
  readonly sendSeq: number;
  /** Highest index that the sender counts as durable at the receiver: lets it discover lost data. */
  readonly youAcked: Index;
  /**
   * Start number of the receiver that the sender vouches for: since the sender learned of it, a quorum of members that
   * are not suspect has stored an entry of this term that did not exist before. 0 for none.
   */
  readonly vouchedBoot: number;
}

/**
 * Answer to an append. With neither `match` nor `reject` it only identifies the sender: a node in a later term, or a
 * suspect one.
 */
export interface AppendResp extends Header {
  readonly type: 'appendResp';
  /** Highest index known to agree with the leader and to be durable here; absent in a refusal. */
  readonly match: Index | undefined;
  /** Why it was refused: `prevIndex` did not agree; the log may agree at `hintIndex`, whose term is `hintTerm`. */
  readonly reject: { readonly prevIndex: Index; readonly hintIndex: Index; readonly hintTerm: Term } | undefined;
  readonly lastIndex: Index;
  readonly sendSeq: number;
  /** Count of openings of the sender's directory: acknowledgements of an earlier life may be lost since. */
  readonly boot: number;
  /** True when the sender may have forgotten votes and entries: its answers do not count yet. */
  readonly suspect: boolean;
}

export interface Heartbeat extends Header, ClockField {
  readonly type: 'heartbeat';
  /** Never beyond what the receiver is known to hold. */
  readonly commit: Index;
  /** The read round in flight, 0 when none is; echoed. */
  readonly round: number;
}

export interface HeartbeatResp extends Header, ClockField {
  readonly type: 'heartbeatResp';
  readonly round: number;
  /** Committed entries not yet applied there. */
  readonly applyLag: number;
  /** A log write has been outstanding for longer than a second there. */
  readonly diskSlow: boolean;
  /** As in `appendResp`. */
  readonly boot: number;
  readonly suspect: boolean;
}

/** Offers a checkpoint: the receiver answers with `checkpointAck`, or with `appendResp` when it needs none. */
export interface CheckpointBegin extends Header {
  readonly type: 'checkpointBegin';
  readonly meta: CheckpointMeta;
  /** Names this transfer at its sender. */
  readonly transfer: number;
}

interface CheckpointChunk extends Header {
  readonly type: 'checkpointChunk';
  readonly transfer: number;
  readonly offset: number;
  /** At most 256 KiB. */
  readonly data: Uint8Array;
}

interface CheckpointAck extends Header {
  readonly type: 'checkpointAck';
  readonly transfer: number;
  /** Bytes held from the start of the file; the sender goes on from here. */
  readonly offset: number;
  /** The receiver gives up this transfer: damaged file, wrong cluster, or no longer wanted. */
  readonly refused: boolean;
}

interface TimeoutNow extends Header {
  readonly type: 'timeoutNow';
}

interface ReadIndexReq extends Header {
  readonly type: 'readIndexReq';
  /** Fresh for each attempt. */
  readonly id: number;
}

interface ReadIndexResp extends Header {
  readonly type: 'readIndexResp';
  readonly id: number;
  /** Absent: refused, ask again (perhaps elsewhere). */
  readonly index: Index | undefined;
}

/** The receiver left the configuration at `index` and stops campaigning. */
interface Removed extends Header {
  readonly type: 'removed';
  readonly index: Index;
}

export type Message =
  | PreVote
  | PreVoteResp
  | Vote
  | VoteResp
  | Append
  | AppendResp
  | Heartbeat
  | HeartbeatResp
  | CheckpointBegin
  | CheckpointChunk
  | CheckpointAck
  | TimeoutNow
  | ReadIndexReq
  | ReadIndexResp
  | Removed;

export type MessageType = Message['type'];
/** A message as core code writes it: the header is added when it is queued. */
export type Draft<M extends Message = Message> = M extends Message ? Omit<M, keyof Header> & { term?: Term } : never;
