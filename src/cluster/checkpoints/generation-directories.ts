// The generations of the state on disk: a LevelDB store in `state/<number>` each, and checkpoint files in a directory of
// the log (architecture.md §7, points 4 and 5).
import { readdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ifPresent, syncDirectory } from '../../../disk/durable-file.ts';
import { readCheckpoint, writeCheckpoint } from '../../../raft/index.ts';
import { generationDirectory, LevelStore } from '../../state/level-store.ts';
import type { CheckpointFiles, GenerationStores } from './generations.ts';

export const generationStores = (storePath: string): GenerationStores => ({
  async create(generation) {
    const directory = generationDirectory(storePath, generation);
    await rm(directory, { recursive: true, force: true });
    return await LevelStore.open(directory);
  },
  seal: (generation) => syncDirectory(dirname(generationDirectory(storePath, generation))),
  remove: (generation) => rm(generationDirectory(storePath, generation), { recursive: true, force: true }),
});

export const checkpointFilesIn = (directory: string): CheckpointFiles => ({
  write: (image) => writeCheckpoint(directory, image),
  read: (meta) => readCheckpoint(directory, meta),
});

/** Lists the generations below `storePath`, including those that do not count. */
export async function generationsIn(storePath: string): Promise<readonly number[]> {
  const names = (await ifPresent(readdir(dirname(generationDirectory(storePath, 1))))) ?? [];
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

/**
 * Removes, at start, generations that do not count and that a crash left. A new log knows of no other generation, so
 * nothing is removed because of it.
 */
export async function removeOtherGenerations(storePath: string, generation: number, isNewLog: boolean): Promise<void> {
  const others = (await generationsIn(storePath)).filter((other) => other !== generation);
  const [first] = others;
  if (isNewLog && first !== undefined) {
    throw new Error(`the log of the state in ${generationDirectory(storePath, first)} is gone; replace this node`);
  }
  for (const other of others) await rm(generationDirectory(storePath, other), { recursive: true });
}
