// Lock of a directory: an empty LevelDB in `lock/`. The system ends the lock of a process that ends, which no lock that Node
// offers does; LevelDB asks for one.
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { damagedTable } from '../../disk/table-check.ts';

export class DirectoryLock {
  readonly #location: string;
  #database: ClassicLevel | undefined;

  constructor(directory: string) {
    this.#location = join(directory, 'lock');
  }

  /** Rejects with `cause.code` LEVEL_LOCKED when another process has it. Tables are checked first: LevelDB ends the process over damaged ones. */
  async take(): Promise<void> {
    const damaged = await damagedTable(this.#location);
    if (damaged !== undefined) throw this.#failure(damaged);
    // The constructor begins to open: nothing that must come before may come after it.
    this.#database = new ClassicLevel(this.#location, { compression: false });
    await this.#database.open().catch((error: unknown) => {
      const cause = error instanceof Error ? error.cause : undefined;
      throw this.#failure(cause instanceof Error ? cause.message : String(error), cause);
    });
  }

  async release(): Promise<void> {
    await this.#database?.close();
  }

  #failure(reason: string, cause?: unknown): Error {
    return new Error(`${this.#location} cannot be locked: ${reason}; it holds nothing else and may be removed`, {
      cause,
    });
  }
}
