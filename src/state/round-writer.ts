// Writer of rounds to the store of one generation, behind the answers: the log has their content, synced on a majority
// and here, so the store may follow it. Rounds gather and reach the store together, in one synced batch with one mark;
// the store is at every moment as the state was after some round. Rounds that a crash takes away the log gives again.
import { type DiskProblem, isLate, isRejected, lateMs, rejectedPauseMs } from '../../disk/disk-problem.ts';
import { mayPass } from '../../disk/durable-file.ts';
import { type RunSteps, runSliced } from '../util/time-slice.ts';
import type { Row } from './config-state.ts';
import type { Position } from './overlay.ts';
import { RowCodec } from './row-codec.ts';
import { keys } from './row-keys.ts';
import { type Change, type Mark, type Store, StoreDamaged } from './store.ts';

/** Runs `run` after so many milliseconds, unless what it returned is called before. */
interface Timers {
  after(delayMs: number, run: () => void): () => void;
}

/**
 * Parameters of late writes. Without them every round is written before it is shown: for a state without a log to
 * replay.
 */
export interface WriteBehind {
  readonly clock: Timers;
  /** Time that a round may wait for others, milliseconds. */
  readonly delayMs: number;
}

/** Delay in the product. */
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
  /** Index up to which the store holds the state now. */
  readonly applied: number;
  /** A write failed: what is on disk is not known any more. */
  readonly failed: (error: unknown) => void;
  /** Hears why the store cannot be written for the time being, and undefined when it can again. */
  readonly waits: (problem: DiskProblem | undefined) => void;
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
  #isEnding = false;
  #problem: DiskProblem | undefined;
  /** Index that the last write has brought to the disk. */
  #applied: number;

  constructor(parts: RoundWriterParts) {
    this.#parts = parts;
    this.#applied = parts.applied;
  }

  /** Why the store cannot be written for the time being. */
  get problem(): DiskProblem | undefined {
    return this.#problem;
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

  /** The last write of all. A store that cannot be written is left as it is: the log gives again what it lacks. */
  async finish(): Promise<void> {
    if (this.#problem !== undefined) return;
    this.#isEnding = true;
    await this.flush();
  }

  /** Writes nothing more; what was not written yet is dropped. Resolves when the write under way is over. */
  async abort(): Promise<void> {
    this.#isOver = true;
    this.#drop();
    await this.#writing?.catch(() => undefined);
  }

  /** Waiters learn of a failure too, after `failed` was called. */
  #begin(): void {
    this.flush().catch(() => undefined);
  }

  async #write(): Promise<void> {
    const { codec, run, failed } = this.#parts;
    try {
      const rounds = this.#rounds;
      const mark = this.#mark;
      const bytes = this.#bytes;
      const added = this.#added;
      this.#drop();
      const changes = await runSliced(bytes, encoded(codec, rounds), run);
      if (mark !== undefined && !this.#isOver) await this.#writeChanges(changes, mark);
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

  async #writeChanges(changes: readonly Change[], mark: Mark): Promise<void> {
    const { store, behind } = this.#parts;
    const cancel = behind?.clock.after(lateMs, () => {
      if (this.#problem === undefined) this.#waits(isLate(store.place));
    });
    try {
      await store.write(changes, mark).catch((error: unknown) => this.#insist(changes, mark, error));
      this.#applied = mark.applied;
    } finally {
      cancel?.();
      this.#waits(undefined);
    }
  }

  /**
   * Makes a rejected write again until it succeeds, in files that were opened anew: LevelDB writes nothing sound behind
   * a rejected write (raft.md A6). Rows hold states, not changes, so a write that is there already does no harm.
   */
  async #insist(changes: readonly Change[], mark: Mark, rejection: unknown): Promise<void> {
    const { store, behind } = this.#parts;
    let reason = rejection;
    for (let pauseMs = rejectedPauseMs.first; ; pauseMs = Math.min(2 * pauseMs, rejectedPauseMs.longest)) {
      if (behind === undefined || !mayPass(reason) || this.#isOver || this.#isEnding) throw reason;
      this.#waits(isRejected(store.place, reason));
      const { promise, resolve } = Promise.withResolvers<void>();
      behind.clock.after(pauseMs, resolve);
      await promise;
      try {
        await store.reopen();
        await this.#expectFormer(mark);
        return await store.write(changes, mark);
      } catch (error) {
        reason = error;
      }
    }
  }

  /** After a rejection the store ends where the write before it left it, or where the rejected one would have. */
  async #expectFormer(mark: Mark): Promise<void> {
    const { store } = this.#parts;
    const image = store.image();
    try {
      const row = await image.get(keys.position);
      const body = row && new RowCodec(undefined).decode(keys.position, row)?.body;
      const applied = body === undefined ? 0 : (JSON.parse(body.toString()) as Position).applied;
      if (applied === this.#applied || applied === mark.applied) return;
      const lost = `index ${this.#applied} was written, but it ends at ${applied}`;
      throw new StoreDamaged(store.place, lost);
    } finally {
      await image.close();
    }
  }

  #waits(problem: DiskProblem | undefined): void {
    if (problem?.reason === this.#problem?.reason) return;
    this.#problem = problem;
    this.#parts.waits(problem);
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

/**
 * Returns the newest version of each row. A row that came and went between two writes need not reach the store: most
 * results of requests do so.
 */
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
