// The vocabulary of the consensus module: what a log entry, a configuration and a durable record are.
// Everything in raft/ speaks these types; nothing here has behaviour beyond naming a member.

/** Position in the log, 1-based; 0 stands before the first entry. Safe integer. */
export type Index = number;
/** Election epoch, 1-based; 0 means none was seen. Safe integer. */
export type Term = number;
/** `<nodeId>#<incarnation>`. An incarnation is drawn when a data directory is created, so an id is never used twice. */
export type MemberId = string;

export interface Identity {
  readonly nodeId: string;
  /** Random 53-bit number of the data directory. */
  readonly incarnation: number;
}

export function memberId({ nodeId, incarnation }: Identity): MemberId {
  return `${nodeId}#${incarnation}`;
}

export function identityOf(id: MemberId): Identity {
  const at = id.lastIndexOf('#');
  return { nodeId: id.slice(0, at), incarnation: Number(id.slice(at + 1)) };
}

export interface Member {
  readonly id: MemberId;
  /** Address of its raft transport for peers, `host:port`. */
  readonly address: string;
  /** Address of the program above raft for peers (writes relayed by followers), `host:port` or empty. */
  readonly clientAddress: string;
}

/**
 * Configuration of the cluster. Id lists are sorted and free of duplicates; a voter is never a learner.
 * In a joint configuration (`outgoing` not empty) every decision needs a majority of `voters` and of `outgoing`.
 */
export interface Config {
  readonly voters: readonly MemberId[];
  readonly outgoing: readonly MemberId[];
  readonly learners: readonly MemberId[];
  /** Voters of the outgoing half that become learners when the joint configuration is left. */
  readonly learnersNext: readonly MemberId[];
  /** The leader leaves this joint configuration on its own. */
  readonly autoLeave: boolean;
  /** Addresses of all members named above, sorted by id. */
  readonly members: readonly Member[];
  /** Incarnations that were removed and may never return; the latest 128, oldest first. */
  readonly removed: readonly MemberId[];
}

export const emptyConfig: Config = {
  voters: [],
  outgoing: [],
  learners: [],
  learnersNext: [],
  autoLeave: false,
  members: [],
  removed: [],
};

interface EntryHead {
  readonly index: Index;
  readonly term: Term;
  /** Log time: Unix milliseconds stamped by the leader, never smaller than the entry before. */
  readonly time: number;
}

export interface CommandEntry extends EntryHead {
  readonly kind: 'command';
  /** Opaque to raft. Owned by the log: never changed after it was handed over. */
  readonly payload: Uint8Array;
}

/** The whole resulting configuration, so that one entry can be understood without those before it. */
export interface ConfigEntry extends EntryHead {
  readonly kind: 'config';
  readonly config: Config;
}

/** Appended by each new leader: committing it commits everything before it. */
interface NoopEntry extends EntryHead {
  readonly kind: 'noop';
}

export type Entry = CommandEntry | ConfigEntry | NoopEntry;

/** Always stored whole, in one record: term and vote written apart have let nodes vote twice. */
export interface HardState {
  readonly term: Term;
  readonly vote: MemberId | undefined;
  readonly commit: Index;
}

/** A point of the log by its coordinates. */
export interface LogPosition {
  readonly index: Index;
  readonly term: Term;
}

/** A complete, verified image of the state machine after `index`. */
export interface CheckpointMeta {
  readonly index: Index;
  readonly term: Term;
  /** Log time at `index`. */
  readonly time: number;
  /** Configuration in force at `index`. */
  readonly config: Config;
  /** Name of the file below the checkpoint directory of this node; a receiver chooses its own. */
  readonly file: string;
  /** Length of the file in bytes. */
  readonly size: number;
  /** Lower-case hex of the file's SHA-256. */
  readonly sha256: string;
}

/** State of a node when it starts. */
export interface BootState {
  readonly hardState: HardState;
  /** The position before the first kept entry; 0/0 for a log kept from its beginning. */
  readonly base: LogPosition;
  /** All kept entries, contiguous from `base.index + 1`. */
  readonly entries: readonly Entry[];
  readonly checkpoint: CheckpointMeta | undefined;
  /**
   * True when the tail may have been lost, acknowledged or not: the node neither campaigns nor votes, and its answers
   * do not count, until a leader vouches for it; it is poisoned if it acknowledged more than it has.
   */
  readonly suspect: boolean;
}

export interface StoreIdentity extends Identity {
  /** 32 hex digits; undefined while this node has not joined or created a cluster. */
  readonly clusterId: string | undefined;
}
