// Fingerprint of a set of files: a hash over names and contents. Dates do not count, so a checkout, a copy and a
// touched file cost no second build.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Hash over the given files and, recursively, folders, as hex; a missing one counts as missing. */
export function fingerprint(root, paths) {
  const hash = createHash('sha256');
  for (const path of paths) {
    for (const file of filesOf(root, path))
      hash
        .update(`${file}\0`)
        .update(contentOf(join(root, file)))
        .update('\0');
  }
  return hash.digest('hex');
}

/** The text of a stamp file, or undefined when it is not there. */
export function readStamp(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function filesOf(root, path) {
  const isFolder = statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder) return [path];
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length + 1))
    .sort();
}

function contentOf(file) {
  try {
    return readFileSync(file);
  } catch {
    return 'missing';
  }
}
