// Watch for a disk that fills up, before a write fails (raft.md A6.2): a failed write of the log is the last one, so a
// leader refuses proposals while there is still room for those under way. (The driver handles a disk that hangs.)
import { statfs } from 'node:fs/promises';

/** 'low' is worth a warning, 'full' refuses proposals. */
export type SpaceHealth = 'fine' | 'low' | 'full';

export interface Space {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

const mebibyte = 1024 * 1024;
const low = { share: 0.1, bytes: 1024 * mebibyte };
const full = { share: 0.02, bytes: 256 * mebibyte };

/**
 * Limits of free space, the smaller of share and size: a tenth of a large disk is plenty, and a small disk never had a gibibyte.
 * Low: below 10 % or 1 GiB. Full: below 2 % or 256 MiB.
 */
export function spaceHealth({ freeBytes, totalBytes }: Space): SpaceHealth {
  const below = (limit: typeof low) => freeBytes < Math.min(limit.bytes, totalBytes * limit.share);
  if (below(full)) return 'full';
  return below(low) ? 'low' : 'fine';
}

/** Free and total bytes of the file system that holds `directory`, as an ordinary user sees them. */
export async function measureSpace(directory: string): Promise<Space> {
  const { bavail, blocks, bsize } = await statfs(directory);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}
