// A disk that a crash can hit at any moment of a write, and that can lie about what it has written. After the crash the
// store of that moment never answers again; `open` gives what the next start finds.
import { type Change, inOnePiece, type Mark, type Store } from '../../src/state/store.ts';

/** Moment of the crash: nothing of the batch is there; the batch is there, the mark is not; both are, the answer is not. */
export type Cut = 'before the batch' | 'before the mark' | 'before the answer';

export const cuts: readonly Cut[] = ['before the batch', 'before the mark', 'before the answer'];

interface Content {
  readonly rows: ReadonlyMap<string, Uint8Array>;
  readonly mark: Mark | undefined;
}

export class LosingDisk {
  /** Content after each finished step, the newest last. */
  readonly #history: Content[] = [{ rows: new Map(), mark: undefined }];
  #writes = 0;
  #crash: { readonly write: number; readonly cut: Cut } | undefined;
  #failure: { readonly write: number; readonly error: Error } | undefined;

  /** Writes that were begun since the disk was made. */
  get writes(): number {
    return this.#writes;
  }

  /** Hits the `write`-th write, counted from 1 over all starts. */
  crashAt(write: number, cut: Cut): void {
    this.#crash = { write, cut };
  }

  /** Lets the `write`-th write fail, with nothing written. */
  failAt(write: number, error: Error): void {
    this.#failure = { write, error };
  }

  /** Forgets the last `count` batches although their marks were written: a volatile cache, a restored image. */
  loseBatches(count: number): void {
    const { rows } = this.#history[Math.max(0, this.#history.length - 1 - count)] ?? this.#now;
    this.#history.push({ rows, mark: this.#now.mark });
  }

  open(): Store {
    const { mark } = this.#now;
    const content = (): Content => this.#now;
    return {
      place: 'a losing disk',
      mark,
      async *rows() {
        const { rows } = content();
        for (const key of [...rows.keys()].sort()) yield [key, rows.get(key) ?? new Uint8Array()] as const;
      },
      image() {
        const { rows } = content();
        return {
          get: async (key) => rows.get(key),
          async *rows() {
            for (const key of [...rows.keys()].sort()) yield [key, rows.get(key) ?? new Uint8Array()] as const;
          },
          close: async () => undefined,
        };
      },
      write: (changes, next) => this.#write(changes, next),
      reopen: async () => undefined,
      compact: async () => undefined,
      close: async () => undefined,
    };
  }

  async #write(changes: readonly Change[], mark: Mark): Promise<void> {
    const write = ++this.#writes;
    if (this.#failure?.write === write) throw this.#failure.error;
    const cut = this.#crash?.write === write ? this.#crash.cut : undefined;
    if (cut === 'before the batch') return await never;
    const rows = new Map(this.#now.rows);
    for (const { key, value } of changes) {
      if (value === undefined) rows.delete(key);
      else rows.set(key, Uint8Array.from(inOnePiece(value)));
    }
    await Promise.resolve();
    if (cut === 'before the mark') {
      this.#history.push({ rows, mark: this.#now.mark });
      return await never;
    }
    this.#history.push({ rows, mark });
    if (cut === 'before the answer') await never;
  }

  get #now(): Content {
    return this.#history.at(-1) ?? { rows: new Map(), mark: undefined };
  }
}

const never = new Promise<never>(() => undefined);
