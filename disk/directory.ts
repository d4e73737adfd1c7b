// Directories that are made when they are missing, with those above them. Node's own `recursive` never ends where the
// system says that a directory is missing although it is there, because nothing can be made in it (/proc).
import { chmod, mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { codeOf, isMissing, syncDirectory } from './durable-file.ts';

interface Mode {
  /** Mode of each directory that is made. Default: the mode that the system gives. */
  readonly mode?: number;
}

/** Resolves once it is there; a name that was made survives a power loss. Rejects with the system's error; EEXIST when something else has its name. */
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
 * Makes a directory that only its owner may read: the contents of a store are secret, even where the modes of its files
 * are wider. Closes an existing directory to others, unless another user owns it.
 */
export async function makePrivateDirectory(path: string): Promise<void> {
  await makeDirectory(dirname(path));
  await makeDirectory(path, { mode: 0o700 });
  await syncNames(resolve(path));
  const { mode, uid } = await stat(path);
  if ((mode & 0o077) !== 0 && uid === process.getuid?.()) await chmod(path, 0o700);
}

/**
 * Syncs all directories above `path` on its file system: a process that made one of them may have ended before it could. Those
 * that may not be opened, and file systems that know no sync of a directory, are left alone.
 */
async function syncNames(path: string): Promise<void> {
  const { dev } = await stat(path);
  for (let at = path; dirname(at) !== at; at = dirname(at)) {
    if ((await stat(dirname(at))).dev !== dev) return;
    await syncDirectory(dirname(at)).catch((error: unknown) => {
      if (!cannotSync.includes(codeOf(error))) throw error;
    });
  }
}

const cannotSync: readonly unknown[] = ['EACCES', 'EPERM', 'EINVAL', 'ENOTSUP', 'ENOSYS'];

/** Makes one directory. Its parent has to exist. Another process may make it first. */
async function makeIn(path: string, options: Mode): Promise<void> {
  try {
    await mkdir(path, options);
    await syncDirectory(dirname(path));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !(await isDirectory(path))) throw error;
  }
}

const isDirectory = async (path: string): Promise<boolean> =>
  await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
