// Directories that are made when they are missing, with those above them. Node's own `recursive` never ends where the
// system says that a directory is missing although it is there, because nothing can be made in it (/proc).
import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

interface Mode {
  /** Of each directory that is made; the system's own otherwise. */
  readonly mode?: number;
}

/** Resolves once it is there. Rejects with the system's error; EEXIST when something else has its name. */
export async function makeDirectory(path: string, options: Mode = {}): Promise<void> {
  try {
    await mkdir(path, options);
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && (await isDirectory(path))) return;
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    await makeDirectory(dirname(path), options);
    await mkdir(path, options).catch(async (again: unknown) => {
      // Somebody else may have been quicker.
      if (codeOf(again) !== 'EEXIST' || !(await isDirectory(path))) throw again;
    });
  }
}

/** As `makeDirectory`, while nothing else goes on yet. */
export function makeDirectorySync(path: string, options: Mode = {}): void {
  try {
    mkdirSync(path, options);
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    makeDirectorySync(dirname(path), options);
    mkdirSync(path, options);
  }
}

const isDirectory = async (path: string): Promise<boolean> =>
  await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
