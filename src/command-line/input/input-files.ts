// Files of `-f`: a file, a folder with all below it, or standard input.
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailure, failed, wrongUsage } from '../exit.ts';
import { readStandardInput } from '../standard-input.ts';

export interface InputFile {
  /** As faults name it. */
  readonly name: string;
  readonly text: string;
}

const readable = /\.(ya?ml|json)$/;

/** Bytes of all files together. */
const bytesMax = 64 * 1024 * 1024;

/** Reads the files: of folders `*.yaml`, `*.yml` and `*.json` in byte order, hidden names skipped. */
export async function readInputFiles(given: readonly string[]): Promise<InputFile[]> {
  if (given.length === 0) throw wrongUsage('-f FILE is needed; - is standard input');
  let left = bytesMax;
  const files: InputFile[] = [];
  for (const name of given.flatMap(filesAt)) {
    const bytes = await read(name);
    left -= bytes.length;
    if (left < 0) throw failed(`the files have more than ${bytesMax / 1024 / 1024} MiB together`);
    files.push({ name: name === '-' ? 'stdin' : name, text: textOf(bytes, name) });
  }
  return files;
}

function filesAt(path: string): string[] {
  if (path === '-') return [path];
  try {
    if (!statSync(path).isDirectory()) return [path];
    const found = filesBelow(path, []);
    if (found.length > 0) return found;
  } catch (error) {
    throw error instanceof CommandFailure ? error : unreadable(path, error);
  }
  throw failed(`${path} has no file *.yaml, *.yml or *.json`);
}

/** `above`: folders that it is in, as they are without links. */
function filesBelow(folder: string, above: readonly string[]): string[] {
  const real = realpathSync(folder);
  if (above.includes(real)) throw failed(`${folder} is a link to a folder that it is in`);
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.startsWith('.'));
  entries.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    // A link is followed: Kubernetes mounts files of a ConfigMap as links.
    const isFolder = entry.isDirectory() || (entry.isSymbolicLink() && isLinkToFolder(path, entry.name));
    if (isFolder) return filesBelow(path, [...above, real]);
    return readable.test(entry.name) ? [path] : [];
  });
}

/** A link that leads nowhere is a fault where a file is meant by its name. */
function isLinkToFolder(path: string, name: string): boolean {
  const found = statSync(path, { throwIfNoEntry: readable.test(name) });
  return found?.isDirectory() ?? false;
}

async function read(path: string): Promise<Buffer> {
  try {
    return path === '-' ? await readStandardInput() : readFileSync(path);
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw unreadable(path, error);
  }
}

function textOf(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw failed(`${name} is no UTF-8`);
  }
}

const unreadable = (path: string, error: unknown) =>
  failed(`cannot read ${path}: ${error instanceof Error ? error.message : error}`);
