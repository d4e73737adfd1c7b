// Files that must be either whole or absent after a power loss: synced before they get their name,
// and the name synced before anyone relies on it. Used for markers and checkpoints.
import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Syncs a directory, so that names created, renamed or removed in it survive a power loss. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Puts `bytes` under `path`, replacing what was there in one step. */
export async function writeDurably(path: string, bytes: Uint8Array | string): Promise<void> {
  const temporary = `${path}.partial`;
  try {
    await withFile(temporary, 'w', async (file) => {
      await file.writeFile(bytes);
      await file.sync();
    });
    await renameDurably(temporary, path);
  } catch (error) {
    // A file that was half written to a full disk is of no use.
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Gives a file that was synced already its final name. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncDirectory(dirname(to));
}

/** Removes a file if it is there. */
export async function removeDurably(path: string): Promise<void> {
  await rm(path, { force: true });
  await syncDirectory(dirname(path));
}

/** The text of a file, or undefined when there is none. Any other failure is thrown. */
export const readIfPresent = (path: string): Promise<string | undefined> => ifPresent(readFile(path, 'utf8'));

/** Resolves as `reading` does, or with undefined when what it reads is missing. Rejects with any other failure. */
export async function ifPresent<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export async function withFile<T>(path: string, flags: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, flags, 0o600);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

export const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT';

/** An error of the system, such as ENOSPC or EIO: no mistake of the program. */
export const isOfSystem = (error: unknown): boolean =>
  error instanceof Error && 'errno' in error && typeof error.errno === 'number';

/** True for what the system did not allow, and may allow later: no room, no free descriptor, a failed device. Errors of LevelDB included. */
export function mayPass(error: unknown): boolean {
  if (isOfSystem(error) || codeOf(error) === 'LEVEL_IO_ERROR') return true;
  return error instanceof Error && error.cause !== undefined && mayPass(error.cause);
}

/** Code of an error of the system or of LevelDB; undefined without one. */
export const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
