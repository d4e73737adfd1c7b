// A store that is damaged, or behind the beginning of its log, made anew: the log holds all that the state was made of, as entries
// from the first on, or behind a checkpoint.
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { LogBeginning } from '../../../raft/index.ts';
import { fillStore } from '../../state/checkpoint.ts';
import { Cipher } from '../../state/encryption.ts';
import { LevelStore } from '../../state/level-store.ts';
import { newIdentity } from '../../state/open-state.ts';
import type { CheckpointFiles } from './generations.ts';

/** Returns whether a log that was found whole and begins so, with its checkpoint, holds all that a state was made of. */
export const holdsAll = ({ base, checkpoint }: LogBeginning): boolean => base === 0 || (checkpoint?.index ?? 0) >= base;

export interface RebuildOptions {
  readonly directory: string;
  readonly checkpoints: Pick<CheckpointFiles, 'read'>;
  readonly encryptionKey?: Uint8Array | undefined;
}

/** Replaces what is in the directory by a store of the checkpoint, or by an empty one; the log applies what follows. */
export async function rebuildStore(
  { checkpoint }: LogBeginning,
  { directory, checkpoints, encryptionKey }: RebuildOptions,
): Promise<LevelStore> {
  await rm(directory, { recursive: true, force: true });
  const store = await LevelStore.open(directory);
  if (checkpoint === undefined) return store;
  const cipher = encryptionKey && new Cipher(encryptionKey, randomBytes);
  try {
    await fillStore(store, checkpoints.read(checkpoint), newIdentity(randomBytes), cipher);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
