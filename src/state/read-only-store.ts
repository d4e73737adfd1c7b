// The store of a disk that takes no byte: all of its rows as they are, read past LevelDB. Nothing is made, locked or changed.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readLevel } from '../../disk/level-reader.ts';
import { type Mark, type Store, StoreDamaged, type StoreImage } from './store.ts';
import { readWitness, witnessName } from './store-witness.ts';

/** Before the key of a long row stands this (level-store.ts). */
const reference = '\u0000';

export class ReadOnlyStore implements Store {
  readonly place: string;
  readonly mark: Mark | undefined;
  readonly #rows: ReadonlyMap<string, Uint8Array>;

  private constructor(place: string, mark: Mark | undefined, rows: ReadonlyMap<string, Uint8Array>) {
    this.place = place;
    this.mark = mark;
    this.#rows = rows;
  }

  /** @throws {StoreDamaged} when the files cannot be read as a store */
  static async read(directory: string): Promise<ReadOnlyStore> {
    try {
      const witnessed = await readWitness(directory);
      if (typeof witnessed === 'string') throw new Error(`its file ${witnessName} is ${witnessed}`);
      const rows = new Map<string, Uint8Array>();
      for (const [name, value] of await readLevel(directory)) {
        const key = Buffer.from(name, 'latin1').toString();
        if (!key.startsWith(reference)) rows.set(key, value);
        else rows.set(key.slice(reference.length), await readFile(join(directory, 'long', value.toString('latin1'))));
      }
      return new ReadOnlyStore(directory, witnessed, rows);
    } catch (error) {
      throw new StoreDamaged(directory, error instanceof Error ? error.message : String(error), { cause: error });
    }
  }

  async *rows(): AsyncGenerator<readonly [string, Uint8Array]> {
    yield* this.#rows;
  }

  image(): StoreImage {
    return { get: async (key) => this.#rows.get(key), rows: () => this.rows(), close: async () => undefined };
  }

  write(): Promise<void> {
    return Promise.reject(new Error(`the store at ${this.place} is read-only`));
  }

  reopen(): Promise<void> {
    return this.write();
  }

  compact(): Promise<void> {
    return this.write();
  }

  async close(): Promise<void> {}
}
