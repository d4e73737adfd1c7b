// Checkpoint files as the driver sees them: read one in pieces for a peer, collect one from a peer.
// All calls answer through a callback, once, never from inside the call.
import type { CheckpointMeta } from '../core/types.ts';

export interface CheckpointStore {
  /** Pins the file until `close`. */
  read(meta: CheckpointMeta): CheckpointReader;
  /** Opens (or goes on with) the temporary file of this checkpoint. */
  collect(meta: CheckpointMeta): CheckpointCollector;
  /** Removes files that are older than all that are named here, unless they are pinned. */
  prune(keep: readonly CheckpointMeta[]): void;
}

export interface CheckpointReader {
  /** At most `length` bytes from `offset`; undefined when the file cannot be read or is damaged. */
  read(offset: number, length: number, done: (data: Uint8Array | undefined) => void): void;
  close(): void;
}

export interface CheckpointCollector {
  /** Bytes held from the start of the file. */
  readonly held: number;
  /** `data` continues at `held`. False: it could not be written. */
  append(data: Uint8Array, done: (ok: boolean) => void): void;
  /** All bytes are here: verify length and hash, sync, rename. Gives the meta with this node's file name. */
  finish(done: (meta: CheckpointMeta | undefined) => void): void;
  discard(): void;
}
