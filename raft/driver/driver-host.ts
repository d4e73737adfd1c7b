// The two sides of the driver: its calls to the program above it (Host), and the calls of that program (RaftNode). The
// worker thread carries both over messages; the simulator calls them directly.
import type { DiskProblem } from '../../disk/disk-problem.ts';
import type { Role } from '../core/output.ts';
import type { CheckpointMeta, CommandEntry, Config, Index, Member, MemberId, Term } from '../core/types.ts';

/** Entries to apply, in order and without holes; `first..last` may hold fewer commands than positions. */
export interface Committed {
  readonly first: Index;
  readonly last: Index;
  /** Term and log time at `last`. */
  readonly term: Term;
  readonly logTime: number;
  /** The commands of the range; no-ops and configurations have done their work already. */
  readonly entries: readonly CommandEntry[];
  /** Payload bytes; counted against the credit until `applied(last)`. */
  readonly bytes: number;
}

/**
 * Outcome of a proposal. `notApplied` is certain: it was never in the log, or another committed entry took its index.
 * `unknown`: this node stopped leading, or stopped, before the outcome was known.
 */
export type Outcome =
  | { readonly kind: 'committed'; readonly index: Index }
  | { readonly kind: 'notApplied'; readonly why: Refusal | 'overwritten' }
  | { readonly kind: 'unknown'; readonly why: 'stepped down' | 'stopping' | 'compacted' | 'timeout' };

export type Refusal =
  | 'not leader'
  | 'overload'
  | 'transferring'
  | 'too large'
  /** A full disk would stop this node: it takes nothing more while there is still room. */
  | 'disk full'
  /** A write of the log is late, or was rejected and is made again. */
  | 'disk late'
  /** A membership change is still under way, or this leader has committed nothing of its own term yet. */
  | 'pending change'
  | 'invalid change'
  /** The voters that can be reached now would be no quorum afterwards. */
  | 'quorum at risk'
  | 'not caught up'
  | 'stopped';

export interface RoleReport {
  readonly role: Role;
  readonly term: Term;
  readonly leader: Member | undefined;
  readonly config: Config;
}

export interface Host {
  /** Apply these, which are durable here and committed; answer with `applied(last)`. At most 8 MiB are outstanding. */
  committed(batch: Committed): void;
  outcome(id: number, outcome: Outcome): void;
  /** Without an index the read was refused or ran out of time. */
  readable(id: number, index: Index | undefined): void;
  role(report: RoleReport): void;
  /** Write a checkpoint of what is applied; answer with `checkpointWritten`, or `checkpointFailed`. */
  makeCheckpoint(): void;
  /** Build the state of this verified checkpoint beside the present one; answer with `installed`, or `installFailed`. */
  install(meta: CheckpointMeta): void;
  /** The log now names this generation: switch to it and delete the one before. */
  adopt(generation: number, index: Index): void;
  /** This generation is not wanted any more. */
  discard(generation: number): void;
  /**
   * Why the log can not be written for the time being; undefined: it can again. Proposals are refused meanwhile, and what was
   * read before is all that is known.
   */
  disk(problem: DiskProblem | undefined): void;
  /** This node takes no further part. It answers nothing from now on. */
  fatal(reason: string): void;
}

/** Checkpoint as the state machine describes it; raft adds the configuration. */
export type CheckpointImage = Omit<CheckpointMeta, 'config'>;

export type MembershipChange =
  | { readonly op: 'addLearner'; readonly member: Member }
  | { readonly op: 'promote'; readonly id: MemberId }
  | { readonly op: 'demote'; readonly id: MemberId }
  | { readonly op: 'remove'; readonly id: MemberId }
  /** In one joint step `by` (a learner that caught up) votes in the place of `id`. */
  | { readonly op: 'replace'; readonly id: MemberId; readonly by: MemberId }
  | { readonly op: 'update'; readonly member: Member };

export interface RaftNode {
  /** `id` is the caller's; it comes back in `Host.outcome` exactly once. */
  propose(id: number, payload: Uint8Array): void;
  /** Ends in `Host.outcome` once the change is committed, all of it (a joint step included) or none. */
  change(id: number, change: MembershipChange, options?: { readonly force?: boolean }): void;
  /** Linearizable read barrier; ends in `Host.readable` within 2 s. The caller waits until it has applied that index. */
  read(id: number): void;
  /** Shown up to here. A state that is durable later gets what a crash took from it again, at the next start. */
  applied(index: Index): void;
  /** The file is complete, synced and was read back; the state database is synced up to `index`. */
  checkpointWritten(image: CheckpointImage): void;
  checkpointFailed(): void;
  installed(generation: number, index: Index): void;
  installFailed(index: Index): void;
  /** To `to`, or to the most up-to-date voter. Nothing happens on a node that does not lead. */
  transfer(to: MemberId | undefined): void;
  /** Reports that the program above is alive; a leader without this report for 5 s hands over. */
  alive(): void;
  /** This node's state is wrong: it is poisoned, ends with `fatal(reason)` and never takes part again (raft.md A17). */
  condemn(reason: string): void;
  /** Hands leadership over (at most 1 s), finishes the write in flight, and calls `done`. */
  stop(done: () => void): void;
}
