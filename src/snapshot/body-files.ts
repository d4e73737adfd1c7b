// Files of stored bodies, `bodyFrom.file`: below the directories of `proxy.bodyDirectories` (contract.md §2.4.6). The API
// names the path, and the file is opened with the rights of the process.
import { basename, dirname, join, resolve } from 'node:path';
import { storedBodyBytesMax } from '../model/body-from.ts';
import { isBelow } from '../util/inside.ts';
import { type Machine, missingFor, readAs, type SourceValue } from './secret-sources.ts';

export interface BodyFiles {
  /** Resolves with the reason why a path may not be named: the end of a sentence. Undefined: it may. */
  refusal(path: string): Promise<string | undefined>;
  read(path: string): Promise<SourceValue>;
}

const systemDirectory = '/etc/sluice/bodies';

export class FencedBodyFiles implements BodyFiles {
  readonly #machine: Machine;
  readonly #storePath: string;
  /** The only place below the store path that counts. */
  readonly #ownDirectory: string;
  readonly #directories: readonly string[];

  /** `directories` are absolute. Default: `bodies` below the store path, and `/etc/sluice/bodies`. */
  constructor(machine: Machine, storePath: string, directories: readonly string[] | undefined) {
    this.#machine = machine;
    this.#storePath = resolve(storePath);
    this.#ownDirectory = join(this.#storePath, 'bodies');
    this.#directories = directories ?? [this.#ownDirectory, systemDirectory];
  }

  async refusal(path: string): Promise<string | undefined> {
    try {
      return (await this.#allows(await this.#realPathOf(path))) ? undefined : `must be below ${this.#named()}`;
    } catch {
      return `cannot be looked up; it must be a file below ${this.#named()}`;
    }
  }

  async read(path: string): Promise<SourceValue> {
    const missing = missingFor(
      `file "${path}" is no file of UTF-8 text of 1 to ${storedBodyBytesMax} bytes below ${this.#named()}`,
    );
    try {
      const real = await this.#machine.realpath(path);
      if (!(await this.#allows(real))) return missing;
      const content = await this.#machine.readFile(real, storedBodyBytesMax);
      const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
      // A stored body has a text.
      return text === '' ? missing : readAs(text);
    } catch {
      return missing;
    }
  }

  async #allows(real: string): Promise<boolean> {
    const store = await this.#realPathOf(this.#storePath);
    if (isBelow(store, real) && !isBelow(join(store, basename(this.#ownDirectory)), real)) return false;
    for (const directory of this.#directories) if (isBelow(await this.#realPathOf(directory), real)) return true;
    return false;
  }

  /** Path with the symbolic links of what exists of it resolved. */
  async #realPathOf(path: string): Promise<string> {
    try {
      return await this.#machine.realpath(path);
    } catch (error) {
      const parent = dirname(path);
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      if (!isMissing || parent === path) throw error;
      return join(await this.#realPathOf(parent), basename(path));
    }
  }

  #named(): string {
    const list = this.#directories.length === 0 ? 'which is empty' : this.#directories.join(', ');
    return `a directory of proxy.bodyDirectories (${list})`;
  }
}
