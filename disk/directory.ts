// Directories that are made when they are missing, with those above them. Node's own `recursive` never ends where the
// system says that a directory is missing although it is there, because nothing can be made in it (/proc).
import { chmod, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, isMissing } from './durable-file.ts';

interface Mode {
  /** Of each directory that is made; the system's own otherwise. */
  readonly mode?: number;
}

/** Resolves once it is there. Rejects with the system's error; EEXIST when something else has its name. */
export async function makeDirectory(path: string, options: Mode = {}): Promise<void> {
  try {
    await makeIn(path, options);
  } catch (error) {
    if (!isMissing(error) || dirname(path) === path) throw error;
    await makeDirectory(dirname(path), options);
    await makeIn(path, options);
  }
}

/**
 * One that nobody but its owner may look into, for what a store holds is secret, whatever the modes of its files. One that is
 * there already is closed to others, unless it is somebody else's.
 */
export async function makePrivateDirectory(path: string): Promise<void> {
  await makeDirectory(dirname(path));
  await makeDirectory(path, { mode: 0o700 });
  const { mode, uid } = await stat(path);
  if ((mode & 0o077) !== 0 && uid === process.getuid?.()) await chmod(path, 0o700);
}

/** What it lies in has to be there. Somebody else may have been quicker. */
async function makeIn(path: string, options: Mode): Promise<void> {
  try {
    await mkdir(path, options);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !(await isDirectory(path))) throw error;
  }
}

const isDirectory = async (path: string): Promise<boolean> =>
  await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
