// Disks of a node, as it tells the others: room in its directories, and why its store takes no write.

import { measureSpace, spaceHealth } from '../../raft/index.ts';
import type { DiskState } from '../model/answers/fleet-answers.ts';

/** Disks of one node. */
export interface NodeDisks {
  /** Directories whose disk the system does not measure are left out. */
  readonly disks: readonly DiskState[];
  /** Why the store takes no write; null while it does. */
  readonly problem: string | null;
}

export async function measureDisks(directories: readonly string[]): Promise<readonly DiskState[]> {
  const measured = await Promise.all(
    directories.map(async (path) => {
      const space = await measureSpace(path).catch(() => undefined);
      if (space === undefined) return undefined;
      const { freeBytes, totalBytes } = space;
      return { path, freeBytes, totalBytes, state: spaceHealth(space) };
    }),
  );
  return measured.filter((each) => each !== undefined);
}

/** Returns the answer of another node; undefined for anything else, as a node of an earlier version gives. */
export function nodeDisksOf(value: unknown): NodeDisks | undefined {
  const { disks, problem } = Object(value) as Partial<NodeDisks>;
  return Array.isArray(disks) && problem !== undefined ? { disks, problem } : undefined;
}
