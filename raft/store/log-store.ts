// Durable log as the driver sees it. DiskLogStore is the product's, the simulator has its own on a disk that loses
// power. The driver keeps at most one write outstanding. A write that the disk rejects is late, not lost: the store
// undoes it and makes it again until it succeeds, and reports it meanwhile (raft.md P13).
import type { DiskProblem } from '../../disk/disk-problem.ts';
import type {
  BootState,
  CheckpointMeta,
  Config,
  Entry,
  HardState,
  Index,
  LogPosition,
  StoreIdentity,
} from '../core/types.ts';

/** One atomic write. Absent fields are left as they are on disk. */
export interface WriteBatch {
  readonly hardState?: HardState;
  /** Delete every entry at or above this index that `entries` does not overwrite. */
  readonly truncateFrom?: Index;
  /** Contiguous, and contiguous with what is kept below. */
  readonly entries?: readonly Entry[];
  /**
   * Replace the log: every entry goes, the base becomes the checkpoint's position, the state generation named here
   * counts from now on. `entries` and `hardState` of the same batch come after it.
   */
  readonly install?: { readonly meta: CheckpointMeta; readonly generation: number };
  /** A checkpoint written by this node became the newest verified one. */
  readonly checkpoint?: CheckpointMeta;
  /** Entries up to this position are not needed any more. The deletion itself may lag behind. */
  readonly compactTo?: LogPosition;
  /**
   * The node holds everything it could have lost: a later start need not be suspect because of this one. Until this
   * is durable, a suspect verdict outlives every restart.
   */
  readonly trusted?: true;
  /** True: `done` is called when the batch and all before it survive a power loss. */
  readonly sync: boolean;
}

export type LogVerdict =
  | { readonly kind: 'clean' }
  | { readonly kind: 'suspect'; readonly reason: string }
  | { readonly kind: 'poisoned'; readonly reason: string };

export interface OpenedLog {
  readonly identity: StoreIdentity;
  readonly verdict: LogVerdict;
  /** Count of openings of this directory, this time included; durable before `open` resolves. */
  readonly boots: number;
  /** The generation of the state machine that counts. */
  readonly generation: number;
  /** `suspect` here repeats the verdict. */
  readonly boot: BootState;
}

export interface LogStore {
  /** For people: the directory. */
  readonly place: string;
  /** Why the write under way was rejected last; undefined while none was. It is tried again by itself. */
  readonly problem: DiskProblem | undefined;
  /** Scans and judges everything. Rejects when the store cannot be read at all. */
  open(): Promise<OpenedLog>;
  /**
   * Gives an empty directory its place in a cluster: durable before it resolves. With `config` this node creates
   * the cluster and entry 1 (term 1, committed) is that configuration; without, it waits to be contacted.
   */
  join(clusterId: string, config: Config | undefined): Promise<void>;
  /** At most one outstanding. Calls `done` exactly once, never from inside `write`; a failure is a mistake of the program, and final. */
  write(batch: WriteBatch, done: (failure: Error | undefined) => void): void;
  /** Best effort, to a file next to the database: the next start finds the reason and refuses. */
  poison(reason: string): void;
  /** After a clean stop the next start expects an undamaged tail. */
  close(how: { readonly clean: boolean }): Promise<void>;
}
