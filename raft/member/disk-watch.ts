// Watch for a disk that fills up, before a write fails (raft.md A6.2): a failed write of the log is the last one, so a
// leader refuses proposals while there is still room for those under way. (The driver handles a disk that hangs.)
import { statfs } from 'node:fs/promises';

/** 'low' is worth a warning, 'full' refuses proposals. */
export type SpaceHealth = 'fine' | 'low' | 'full';

export interface Space {
  readonly freeBytes: number;
  readonly totalBytes: number;
  /** Files that can still be made. */
  readonly freeInodes: number;
  /** 0: the file system does not count files. */
  readonly totalInodes: number;
}

const mebibyte = 1024 * 1024;
const low = { share: 0.1, bytes: 1024 * mebibyte, inodes: 1_000 };
const full = { share: 0.02, bytes: 256 * mebibyte, inodes: 100 };

/**
 * Limits of free space, the smaller of share and size: a tenth of a large disk is plenty, and a small disk never had a gibibyte.
 * Low: below 10 % or 1 GiB, or 10 % or 1,000 of the inodes. Full: below 2 % or 256 MiB, or 2 % or 100 of the inodes.
 */
export function spaceHealth(space: Space): SpaceHealth {
  if (isBelow(space, full)) return 'full';
  return isBelow(space, low) ? 'low' : 'fine';
}

function isBelow(
  { freeBytes, totalBytes, freeInodes, totalInodes }: Space,
  { share, bytes, inodes }: typeof low,
): boolean {
  return freeBytes < Math.min(bytes, totalBytes * share) || freeInodes < Math.min(inodes, totalInodes * share);
}

/** Free space in words: what there is least of. */
export function spaceText(space: Space): string {
  const { freeBytes, freeInodes } = space;
  const isOfInodes = spaceHealth(space) !== spaceHealth({ ...space, totalInodes: 0 });
  return isOfInodes ? `${freeInodes} inodes free` : `${freeBytes} bytes free`;
}

/** Free and total bytes and inodes of the file system that holds `directory`, as an ordinary user sees them. */
export async function measureSpace(directory: string): Promise<Space> {
  const { bavail, blocks, bsize, ffree, files } = await statfs(directory);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize, freeInodes: ffree, totalInodes: files };
}
