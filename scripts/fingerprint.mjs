// Fingerprint of a set of files: a hash over names and contents. Dates do not count, so a checkout, a copy and a
// touched file cost no second build.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Age from which the dates of a file tell of every later change, on file systems that count in whole seconds too. */
const settledMs = 2_000;

/** Hash over the given files and, recursively, folders, as hex; a missing one counts as missing. */
export const fingerprint = (root, paths) =>
  hashOf(
    root,
    paths.flatMap((path) => entriesOf(root, path)),
  );

/**
 * The same hash without reading a file, while size, dates and inode of each file and folder are those that the file `record` names
 * beside the hash. `record` is written where they are not; where it cannot be, each call reads the files.
 */
export function recordedFingerprint(root, paths, record, now = Date.now()) {
  const known = readRecord(record);
  if (known?.paths === paths.join() && known.marks.every(([path, mark]) => mark === (markOf(root, path)?.text ?? null)))
    return known.fingerprint;
  // Marks are taken before the contents are read: what changes meanwhile has another mark.
  const entries = paths.flatMap((path) => entriesOf(root, path));
  const marks = entries.map(({ path }) => [path, markOf(root, path)]);
  const result = hashOf(root, entries);
  const isSettled = marks.every(([, mark]) => mark === undefined || mark.changedAt < now - settledMs);
  if (isSettled)
    writeRecord(record, {
      paths: paths.join(),
      fingerprint: result,
      marks: marks.map(([path, mark]) => [path, mark?.text ?? null]),
    });
  return result;
}

/** The text of a stamp file, or undefined when it is not there. */
export function readStamp(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Returns `{path, isFolder}` of the path and, below a folder, of each file and folder, in the order in which they are hashed. */
function entriesOf(root, path) {
  const isFolder = statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder) return [{ path, isFolder }];
  const inside = readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => ({
      path: join(entry.parentPath ?? entry.path, entry.name).slice(root.length + 1),
      isFolder: entry.isDirectory(),
    }));
  return [{ path, isFolder }, ...inside.sort((a, b) => (a.path < b.path ? -1 : 1))];
}

function hashOf(root, entries) {
  const hash = createHash('sha256');
  for (const { path, isFolder } of entries)
    if (!isFolder)
      hash
        .update(`${path}\0`)
        .update(contentOf(join(root, path)))
        .update('\0');
  return hash.digest('hex');
}

function contentOf(file) {
  try {
    return readFileSync(file);
  } catch {
    return 'missing';
  }
}

/** Returns the mark of a file or folder and its time of change, ms; undefined when it is missing. */
function markOf(root, path) {
  const stat = statSync(`${root}/${path}`, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  return { text: `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`, changedAt: stat.ctimeMs };
}

function readRecord(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Writes the record as a whole. A folder that nothing can be written to has none. */
function writeRecord(file, record) {
  const fresh = `${file}.${process.pid}`;
  try {
    writeFileSync(fresh, JSON.stringify(record));
    renameSync(fresh, file);
  } catch {
    rmSync(fresh, { force: true });
  }
}
