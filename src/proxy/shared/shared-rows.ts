// Rows of numbers that all threads of a process see, read and changed without messages (architecture.md §2). Main
// allocates the rows, in segments that are added on demand and never moved, so that a reference to a row stays valid.

/** Layout of a row. Counters come first in it. */
export interface RowShape {
  /** Cells that count what threads hold: each has a sum, and a number per thread that can be taken back. */
  readonly counters: number;
  /** Cells of one number each, behind the sums. */
  readonly plain: number;
  /** Cells for points in time, behind those. */
  readonly times: number;
}

const rowsPerSegment = 512;

/** Cells of a row for so many threads. */
function widthOf({ counters, plain, times }: RowShape, threads: number): number {
  const cells = counters + plain + counters * threads;
  return cells + (cells % 2) + 2 * times;
}

export class SharedRows {
  readonly shape: RowShape;
  readonly threads: number;
  /** To be handed to the other threads whenever there is one more. */
  readonly segments: SharedArrayBuffer[] = [];
  readonly #width: number;

  constructor(shape: RowShape, threads: number) {
    this.shape = shape;
    this.threads = threads;
    this.#width = widthOf(shape, threads);
  }

  /** Segments that main has added since; those known already stay as they are. */
  adopt(segments: readonly SharedArrayBuffer[]): void {
    for (let i = this.segments.length; i < segments.length; i++) {
      const segment = segments[i];
      if (segment !== undefined) this.segments.push(segment);
    }
  }

  /** Main only: makes room for that row. */
  grow(row: number): void {
    while (this.segments.length * rowsPerSegment <= row) {
      this.segments.push(new SharedArrayBuffer(rowsPerSegment * this.#width * 4));
    }
  }

  /** The row as the thread at `place` counts in it. */
  row(row: number, place: number): SharedRow {
    const segment = this.segments[Math.floor(row / rowsPerSegment)];
    if (segment === undefined) throw new Error(`row ${row} has not been given out`);
    return new SharedRow(segment, (row % rowsPerSegment) * this.#width, this.shape, place, this.#width);
  }
}

/** Times are milliseconds of one clock that all threads share. */
export class SharedRow {
  readonly #cells: Int32Array;
  readonly #times: BigInt64Array;
  readonly #base: number;
  readonly #own: number;
  readonly #timeBase: number;
  readonly #shape: RowShape;
  readonly #place: number;
  readonly #width: number;

  constructor(segment: SharedArrayBuffer, base: number, shape: RowShape, place: number, width: number) {
    this.#cells = new Int32Array(segment);
    this.#times = new BigInt64Array(segment);
    this.#base = base;
    this.#own = base + shape.counters + shape.plain + place * shape.counters;
    this.#timeBase = (base + width) / 2 - shape.times;
    this.#shape = shape;
    this.#place = place;
    this.#width = width;
  }

  /** Number that identifies this thread in a row; unique and above zero. */
  get mark(): number {
    return this.#place + 1;
  }

  /** Counts one more, unless the process has `max` already. */
  hold(counter: number, max: number): boolean {
    if (Atomics.add(this.#cells, this.#base + counter, 1) >= max) {
      Atomics.sub(this.#cells, this.#base + counter, 1);
      return false;
    }
    this.#countOwn(counter, 1);
    return true;
  }

  release(counter: number): void {
    this.#countOwn(counter, -1);
    Atomics.sub(this.#cells, this.#base + counter, 1);
  }

  /** In the whole process. */
  held(counter: number): number {
    return this.load(counter);
  }

  heldElsewhere(counter: number): boolean {
    return this.load(counter) > (this.#cells[this.#own + counter] ?? 0);
  }

  /**
   * Reads a cell. `cell` counts from the first counter, so that the plain ones begin behind the counters. Read
   * plainly: one aligned cell never shows half a change (ECMA-262 §29.11), no code concludes from one cell to another,
   * and `Atomics.load` is a call, which each request would make four times.
   */
  load(cell: number): number {
    return this.#cells[this.#base + cell] ?? 0;
  }

  store(cell: number, value: number): void {
    Atomics.store(this.#cells, this.#base + cell, value);
  }

  /** The new value. */
  add(cell: number, by: number): number {
    return Atomics.add(this.#cells, this.#base + cell, by) + by;
  }

  /** Exchanges `from` for `to`; returns whether the cell was `from`. */
  swap(cell: number, from: number, to: number): boolean {
    return Atomics.compareExchange(this.#cells, this.#base + cell, from, to) === from;
  }

  time(index: number): number {
    return Number(Atomics.load(this.#times, this.#timeBase + index));
  }

  setTime(index: number, ms: number): void {
    Atomics.store(this.#times, this.#timeBase + index, BigInt(Math.ceil(Math.min(ms, Number.MAX_SAFE_INTEGER))));
  }

  /** Changes the own counter of this thread. No other thread changes it before this one has crashed. */
  #countOwn(counter: number, by: number): void {
    this.#cells[this.#own + counter] = (this.#cells[this.#own + counter] ?? 0) + by;
  }

  /** Takes back what the thread at `place` counted here. */
  forget(place: number): void {
    const { counters, plain } = this.#shape;
    const own = this.#base + counters + plain + place * counters;
    for (let counter = 0; counter < counters; counter++) {
      const held = Atomics.exchange(this.#cells, own + counter, 0);
      if (held !== 0) Atomics.sub(this.#cells, this.#base + counter, held);
    }
  }

  /** Some thread counts something here. */
  get isUsed(): boolean {
    for (let counter = 0; counter < this.#shape.counters; counter++) if (this.held(counter) !== 0) return true;
    return false;
  }

  /** Clears the row; main only, while the row is not in use. */
  clear(): void {
    for (let cell = 0; cell < this.#width; cell++) Atomics.store(this.#cells, this.#base + cell, 0);
  }
}
