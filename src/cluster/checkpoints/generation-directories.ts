// The generations of the state on disk: a LevelDB store in `state/<number>` each, and checkpoint files in a directory of
// the log (architecture.md §7, points 4 and 5).
import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncDirectory } from '../../../disk/durable-file.ts';
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

/**
 * At start: whatever a crash left of generations that do not count. A log that is new knows of no other generation, so
 * nothing goes on its word.
 */
export async function removeOtherGenerations(storePath: string, generation: number, isNewLog: boolean): Promise<void> {
  const parent = dirname(generationDirectory(storePath, generation));
  const names = await readdir(parent).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const others = names.filter((name) => /^\d+$/.test(name) && name !== String(generation));
  if (isNewLog && others.length > 0) {
    throw new Error(`the log of the state in ${join(parent, ...others.slice(0, 1))} is gone; replace this node`);
  }
  for (const name of others) await rm(join(parent, name), { recursive: true });
}
