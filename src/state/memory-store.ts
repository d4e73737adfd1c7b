// A store that forgets everything with the process; for tests and for trying Sluice out.
import { type Change, inOnePiece, type Mark, type Store, type StoreImage } from './store.ts';

export class MemoryStore implements Store {
  readonly place = 'memory';
  readonly #rows = new Map<string, Uint8Array>();
  #mark: Mark | undefined;

  get mark(): Mark | undefined {
    return this.#mark;
  }

  async *rows(): AsyncGenerator<readonly [string, Uint8Array]> {
    const keys = [...this.#rows.keys()].sort();
    for (const key of keys) {
      const value = this.#rows.get(key);
      if (value !== undefined) yield [key, value];
    }
  }

  image(): StoreImage {
    const copy = new MemoryStore();
    for (const [key, value] of this.#rows) copy.#rows.set(key, value);
    return { get: async (key) => copy.#rows.get(key), rows: () => copy.rows(), close: async () => undefined };
  }

  async write(changes: readonly Change[], mark: Mark): Promise<void> {
    for (const { key, value } of changes) {
      if (value === undefined) this.#rows.delete(key);
      else this.#rows.set(key, Uint8Array.from(inOnePiece(value)));
    }
    this.#mark = mark;
  }

  async reopen(): Promise<void> {}

  async compact(): Promise<void> {}

  async close(): Promise<void> {}
}
