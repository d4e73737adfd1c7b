// Brings rounds to the store of one generation, behind the answers: what they carry is in the log, synced on a majority
// and here, so the store may follow it. Rounds gather and reach the store together, in one synced batch with one mark; the
// store is at every moment as the state was after some round. Whatever a crash takes away of it the log gives again.
import type { Row } from './config-state.ts';
import type { RowCodec } from './row-codec.ts';
import { type RunSteps, workThrough } from './slices.ts';
import type { Change, Mark, Store } from './store.ts';

/** Runs `run` after so many milliseconds, unless what it returned is called before. */
interface Timers {
  after(delayMs: number, run: () => void): () => void;
}

/** Without it every round is written before it is shown: for whoever has no log to take it from again. */
export interface WriteBehind {
  readonly clock: Timers;
  /** How long a round may wait for others, milliseconds. */
  readonly delayMs: number;
}

/** What the product starts with. */
export const writeBehindMs = 100;
/** So much is not kept back for more. */
const gatherBytes = 1024 * 1024;
/** With so much waiting, a disk that does not keep up holds the next round. */
const waitingBytesMax = 16 * 1024 * 1024;

export interface RoundWriterParts {
  readonly store: Store;
  readonly codec: RowCodec;
  readonly run: RunSteps;
  readonly behind: WriteBehind | undefined;
  /** A write failed: what is on disk is not known any more. */
  readonly failed: (error: unknown) => void;
}

export class RoundWriter {
  readonly #parts: RoundWriterParts;
  /** Rows of the rounds that wait. Not what a write under way has taken. */
  #rounds: (readonly Row[])[] = [];
  #bytes = 0;
  #mark: Mark | undefined;
  /** Rounds that came, and those of them that are on disk. */
  #added = 0;
  #written = 0;
  #writing: Promise<void> | undefined;
  #cancelDelay: (() => void) | undefined;
  #isOver = false;

  constructor(parts: RoundWriterParts) {
    this.#parts = parts;
  }

  /**
   * Takes a round over, which ends at `mark`. Undefined: it may be shown. Else when the promise resolves: it and all
   * before it are on disk. `isAwaited`: it must not be shown before.
   */
  add(rows: readonly Row[], mark: Mark, isAwaited: boolean): Promise<void> | undefined {
    this.#rounds.push(rows);
    for (const { key, body } of rows) this.#bytes += key.length + (body?.length ?? 0);
    this.#mark = mark;
    this.#added += 1;
    const { behind } = this.#parts;
    if (isAwaited || behind === undefined || this.#bytes > waitingBytesMax) return this.flush();
    if (this.#bytes > gatherBytes) this.#begin();
    else this.#cancelDelay ??= behind.clock.after(behind.delayMs, () => this.#begin());
    return undefined;
  }

  /** Resolves when everything that was added is on disk; rejects when that failed. */
  async flush(): Promise<void> {
    const target = this.#added;
    while (this.#written < target) {
      this.#writing ??= this.#write();
      await this.#writing;
    }
  }

  /** Writes nothing more; what was not written yet is dropped. Resolves when the write under way is over. */
  async abandon(): Promise<void> {
    this.#isOver = true;
    this.#drop();
    await this.#writing?.catch(() => undefined);
  }

  /** Whoever waits hears of a failure too, and `failed` has heard of it. */
  #begin(): void {
    this.flush().catch(() => undefined);
  }

  async #write(): Promise<void> {
    const { store, codec, run, failed } = this.#parts;
    try {
      const rounds = this.#rounds;
      const mark = this.#mark;
      const bytes = this.#bytes;
      const added = this.#added;
      this.#drop();
      const changes = await workThrough(bytes, encoded(codec, rounds), run);
      if (mark !== undefined && !this.#isOver) await store.write(changes, mark);
      this.#written = added;
    } catch (error) {
      const isLeft = this.#isOver;
      this.#isOver = true;
      this.#drop();
      if (!isLeft) failed(error);
      throw error;
    } finally {
      this.#writing = undefined;
    }
  }

  #drop(): void {
    this.#cancelDelay?.();
    this.#cancelDelay = undefined;
    this.#rounds = [];
    this.#bytes = 0;
    this.#mark = undefined;
  }
}

function* encoded(codec: RowCodec, rounds: readonly (readonly Row[])[]): Generator<void, Change[]> {
  const changes: Change[] = [];
  for (const row of (yield* newestOf(rounds)).values()) {
    changes.push(yield* codec.encode(row));
    yield;
  }
  return changes;
}

/** Of each row the newest. What came and went before the store has seen it need not be told there: most results of requests do. */
function* newestOf(rounds: readonly (readonly Row[])[]): Generator<void, Map<string, Row>> {
  const newest = new Map<string, Row>();
  for (const row of rounds.flat()) {
    const former = newest.get(row.key);
    if (row.body === undefined && former?.isNew === true) newest.delete(row.key);
    else newest.set(row.key, former?.isNew === true ? { ...row, isNew: true } : row);
    yield;
  }
  return newest;
}
