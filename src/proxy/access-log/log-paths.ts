// Places that access logs may be written to (contract.md §8.7): the two streams of the process, and files below the
// directories of `proxy.accessLogDirectories`. An editor of the API names the path, and the file would be opened with
// the rights of the process.
import { lstat, mkdir, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { isBelow } from '../../util/inside.ts';

/** A path as it may be opened, or why it may not: the end of a sentence that begins with the path. */
export type LogPlace =
  | { readonly kind: 'stream'; readonly descriptor: number }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'refused'; readonly why: string };

/** Access logs of a process. */
export interface LogPaths {
  place(path: string): Promise<LogPlace>;
  /** Makes the directory that the process owns, when `path` is below it. */
  makeDirectoryOf(path: string): Promise<void>;
  /** Returns false for a file that turned out to be elsewhere after it was opened. */
  allows(real: string): Promise<boolean>;
}

/** Streams that a process has anyway. */
const streams: ReadonlyMap<string, number> = new Map([
  ['stdout', 1],
  ['/dev/stdout', 1],
  ['stderr', 2],
  ['/dev/stderr', 2],
]);

/** Any path. For callers that choose the path themselves. */
export const anyLogPath: LogPaths = {
  async place(path) {
    const descriptor = streams.get(path);
    return descriptor === undefined ? { kind: 'file', path } : { kind: 'stream', descriptor };
  },
  async makeDirectoryOf() {},
  async allows() {
    return true;
  },
};

const systemDirectory = '/var/log/sluice';

export class FencedLogPaths implements LogPaths {
  readonly #directories: readonly string[];
  readonly #storePath: string;
  /** The only place below the store path that counts. */
  readonly #ownDirectory: string;

  /** `directories` are absolute. Default: `logs` below the store path, and `/var/log/sluice`. */
  constructor(storePath: string, directories: readonly string[] | undefined) {
    this.#storePath = resolve(storePath);
    this.#ownDirectory = join(this.#storePath, 'logs');
    this.#directories = directories ?? [this.#ownDirectory, systemDirectory];
  }

  async place(path: string): Promise<LogPlace> {
    const descriptor = streams.get(path);
    if (descriptor !== undefined) return { kind: 'stream', descriptor };
    const refused = (why: string): LogPlace => ({ kind: 'refused', why });
    if (!isPlain(path)) return refused(`must be stdout, stderr or an absolute path below ${this.#named()}`);
    if (path.endsWith(sep)) return refused(`must be a file, not a directory, below ${this.#named()}`);
    try {
      const real = join(await realPathOf(dirname(path)), basename(path));
      if (!(await this.allows(real))) return refused(`is not below ${this.#named()}`);
      const found = await lstat(real).catch(() => undefined);
      if (found?.isDirectory()) return refused(`is a directory; it must be a file below ${this.#named()}`);
      if (found?.isSymbolicLink()) return refused(`is a symbolic link; it must be a file below ${this.#named()}`);
      return { kind: 'file', path: real };
    } catch (error) {
      return refused(`cannot be looked up (${codeOf(error)}); it must be a file below ${this.#named()}`);
    }
  }

  async makeDirectoryOf(path: string): Promise<void> {
    const own = this.#ownDirectory;
    if (!isBelow(own, path) || !this.#directories.some((each) => resolve(each) === own)) return;
    // What keeps it from being made keeps the file from being opened, with a reason of its own.
    await mkdir(own, { mode: 0o700 }).catch(() => undefined);
  }

  async allows(real: string): Promise<boolean> {
    const store = await realPathOf(this.#storePath);
    if (isBelow(store, real) && !isBelow(join(store, basename(this.#ownDirectory)), real)) return false;
    for (const directory of this.#directories) if (isBelow(await realPathOf(directory), real)) return true;
    return false;
  }

  #named(): string {
    const list = this.#directories.length === 0 ? 'which is empty' : this.#directories.join(', ');
    return `a directory of proxy.accessLogDirectories (${list})`;
  }
}

const isPlain = (path: string): boolean =>
  isAbsolute(path) && !path.includes('\0') && !path.split(sep).some((segment) => segment === '.' || segment === '..');

/** Path with the symbolic links of what exists of it resolved. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const parent = dirname(path);
    if (codeOf(error) !== 'ENOENT' || parent === path) throw error;
    return join(await realPathOf(parent), basename(path));
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
