// Files of `-f`: a file, a folder with all below it, or standard input.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { failed, wrongUsage } from '../exit.ts';

export interface InputFile {
  /** As faults name it. */
  readonly name: string;
  readonly text: string;
}

const readable = /\.(ya?ml|json)$/;

/** Bytes of all files together. */
const bytesMax = 64 * 1024 * 1024;

/** Reads the files: of folders `*.yaml`, `*.yml` and `*.json` in byte order, hidden names skipped. */
export function readInputFiles(given: readonly string[]): InputFile[] {
  if (given.length === 0) throw wrongUsage('-f FILE is needed; - is standard input');
  const names = given.flatMap(filesAt);
  let left = bytesMax;
  return names.map((name) => {
    const bytes = read(name);
    left -= bytes.length;
    if (left < 0) throw failed(`the files have more than ${bytesMax / 1024 / 1024} MiB together`);
    return { name: name === '-' ? 'stdin' : name, text: textOf(bytes, name) };
  });
}

function filesAt(path: string): string[] {
  if (path === '-') return [path];
  try {
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  } catch (error) {
    throw unreadable(path, error);
  }
}

function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.startsWith('.'));
  entries.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    // A link is followed: Kubernetes mounts files of a ConfigMap as links.
    const isFolder = entry.isDirectory() || (entry.isSymbolicLink() && statSync(path).isDirectory());
    if (isFolder) return entry.isSymbolicLink() ? [] : filesBelow(path);
    return readable.test(entry.name) ? [path] : [];
  });
}

function read(path: string): Buffer {
  try {
    return readFileSync(path === '-' ? 0 : path);
  } catch (error) {
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
