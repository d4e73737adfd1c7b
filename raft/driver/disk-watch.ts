// Notices a disk that hangs or fills up before the cluster does (raft.md A9, A23). A leader with a hung disk goes on
// sending heartbeats and everybody waits for ever; so a long sync costs it the leadership, a longer one its life.
import { statfs } from 'node:fs/promises';

/** 'slow' is worth a metric, 'stalled' makes a leader hand over and go silent, 'dead' is fatal. */
export type DiskHealth = 'fine' | 'slow' | 'stalled' | 'dead';

/** 'low' is worth a warning, 'full' refuses proposals: LevelDB does not survive a write that failed (raft.md A6.2). */
export type SpaceHealth = 'fine' | 'low' | 'full';

const slowAfterMs = 1_000;
const stalledAfterMs = 3_000;
const deadAfterMs = 10_000;

const mebibyte = 1024 * 1024;
const low = { share: 0.1, bytes: 1024 * mebibyte };
const full = { share: 0.02, bytes: 256 * mebibyte };

/** Told when a sync begins and ends, asked at each tick. All times are monotonic milliseconds. */
export class DiskWatch {
  #startedAt: number | undefined;
  #longestMs = 0;

  started(nowMs: number): void {
    this.#startedAt = nowMs;
  }

  finished(nowMs: number): void {
    this.#longestMs = Math.max(this.#longestMs, this.outstandingMs(nowMs));
    this.#startedAt = undefined;
  }

  /** For how long the present sync has been running; 0 without one. */
  outstandingMs(nowMs: number): number {
    return this.#startedAt === undefined ? 0 : nowMs - this.#startedAt;
  }

  /** The longest finished sync so far, milliseconds. */
  get longestMs(): number {
    return this.#longestMs;
  }

  health(nowMs: number): DiskHealth {
    const outstanding = this.outstandingMs(nowMs);
    if (outstanding > deadAfterMs) return 'dead';
    if (outstanding > stalledAfterMs) return 'stalled';
    return outstanding > slowAfterMs ? 'slow' : 'fine';
  }
}

/**
 * Whichever threshold is smaller counts: a tenth of a large disk is plenty, and a small disk never had a gibibyte.
 * Low: 10 % or 1 GiB. Full: 2 % or 256 MiB.
 */
export function spaceHealth({ freeBytes, totalBytes }: { freeBytes: number; totalBytes: number }): SpaceHealth {
  const below = (limit: typeof low) => freeBytes < Math.min(limit.bytes, totalBytes * limit.share);
  if (below(full)) return 'full';
  return below(low) ? 'low' : 'fine';
}

/** Free and total bytes of the file system that holds `directory`, as an ordinary user sees them. */
export async function measureSpace(directory: string): Promise<{ freeBytes: number; totalBytes: number }> {
  const { bavail, blocks, bsize } = await statfs(directory);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}
