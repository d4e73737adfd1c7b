// A store that is damaged, or behind the beginning of its log, made anew: the log holds all that the state was made of, as entries
// from the first on, or behind a checkpoint.
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { LogBeginning } from '../../../raft/index.ts';
import { fillStore } from '../../state/checkpoint.ts';
import { type DurableOptions, DurableState } from '../../state/durable-state.ts';
import { Cipher } from '../../state/encryption.ts';
import { LevelStore } from '../../state/level-store.ts';
import { newIdentity } from '../../state/open-state.ts';
import type { CheckpointFiles } from './generations.ts';

/** Returns whether a log that was found whole and begins so, with its checkpoint, holds all that a state was made of. */
export const holdsAll = ({ base, checkpoint }: LogBeginning): boolean => base === 0 || (checkpoint?.index ?? 0) >= base;

export interface RebuildOptions {
  readonly directory: string;
  readonly checkpoints: Pick<CheckpointFiles, 'read'>;
  readonly options: DurableOptions;
}

/**
 * Replaces what is in the directory by a state of the checkpoint, or by an empty one; the log applies what follows. A failure, such
 * as a full disk or the key of another store, leaves nothing there: the next start makes it anew, and nothing is shown of a part.
 */
export async function rebuildState(
  { checkpoint }: LogBeginning,
  { directory, checkpoints, options }: RebuildOptions,
): Promise<DurableState> {
  const clear = () => rm(directory, { recursive: true, force: true });
  await clear();
  try {
    const key = options.encryptionKey;
    const store =
      checkpoint === undefined
        ? await LevelStore.open(directory)
        : await filledStore(directory, checkpoints.read(checkpoint), key && new Cipher(key, randomBytes));
    return await DurableState.open(store, options);
  } catch (error) {
    await clear().catch(() => undefined);
    throw error;
  }
}

/** Opens the empty store of the directory and fills it, under an identity of its own. A failure closes it. */
export async function filledStore(
  directory: string,
  content: AsyncIterable<Uint8Array>,
  cipher: Cipher | undefined,
): Promise<LevelStore> {
  const store = await LevelStore.open(directory);
  try {
    await fillStore(store, content, newIdentity(randomBytes), cipher);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
