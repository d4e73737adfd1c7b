// Lock of a directory: an empty LevelDB in `lock/`. The system ends the lock of a process that ends, which no lock that Node
// offers does; LevelDB asks for one. Nothing else is in it, so damaged files of it are made anew.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { codeOf, ifPresent } from '../../disk/durable-file.ts';
import { damagedTable } from '../../disk/table-check.ts';

/** The file that LevelDB locks before it looks at any other. */
const lockName = 'LOCK';

export class DirectoryLock {
  readonly #location: string;
  #database: ClassicLevel | undefined;

  constructor(directory: string) {
    this.#location = join(directory, 'lock');
  }

  /** Rejects with `cause.code` LEVEL_LOCKED when another process has it. Tables are checked first: LevelDB ends the process over damaged ones. */
  async take(): Promise<void> {
    if ((await damagedTable(this.#location)) !== undefined) await this.#clear();
    try {
      await this.#open();
    } catch (error) {
      if (isLocked(error)) throw this.#failure(error);
      await this.#clear();
      await this.#open().catch((again: unknown) => {
        throw this.#failure(again);
      });
    }
  }

  async release(): Promise<void> {
    await this.#database?.close();
  }

  async #open(): Promise<void> {
    // The constructor begins to open: nothing that must come before may come after it.
    this.#database = new ClassicLevel(this.#location, { compression: false });
    await this.#database.open();
  }

  /** Removes all but the lock itself, which another process may have taken meanwhile. */
  async #clear(): Promise<void> {
    const names = (await ifPresent(readdir(this.#location))) ?? [];
    for (const name of names) if (name !== lockName) await rm(join(this.#location, name), { force: true });
  }

  #failure(error: unknown): Error {
    const cause = causeOf(error);
    const reason = cause instanceof Error ? cause.message : String(error);
    return new Error(`${this.#location} cannot be locked: ${reason}; it holds nothing else and may be removed`, {
      cause,
    });
  }
}

const causeOf = (error: unknown): unknown => (error instanceof Error ? error.cause : undefined);

/** Returns whether another process, or another handle of this one, has the lock. */
export const isLocked = (error: unknown): boolean => codeOf(causeOf(error)) === 'LEVEL_LOCKED';
