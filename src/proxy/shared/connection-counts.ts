// How many upstream connections each destination has in the whole process: limits hold for all workers together
// (architecture.md §2). A row of shared numbers per destination; main gives out the rows, workers count in them.

/** What a pool asks before it opens a connection, and tells when one has ended. */
export interface ConnectionLimit {
  /** Counts one more, unless there are `max` already. */
  acquire(max: number): boolean;
  release(): void;
  /** Tells the others whether somebody here waits for a connection. */
  waiting(yes: boolean): void;
  /** Somebody waits in another worker: a connection nobody uses here should end. */
  readonly wanted: boolean;
}

/** Destinations with a limit; beyond, each worker counts for itself. */
const rowsMax = 16_384;

export class ConnectionCounts {
  readonly buffer: SharedArrayBuffer;
  readonly #cells: Int32Array;
  readonly #workers: number;

  /**
   * Each row holds the sum, one number per worker, so that what a fallen worker held can be taken back, and one per
   * worker that says whether it waits.
   */
  constructor(workers: number, buffer = new SharedArrayBuffer(rowsMax * (2 * workers + 1) * 4)) {
    this.buffer = buffer;
    this.#workers = workers;
    this.#cells = new Int32Array(buffer);
  }

  /** The limit of the destination with that row, as the worker at `place` counts it. */
  limit(row: number, place: number): ConnectionLimit {
    if (row >= rowsMax) return new OwnCount();
    const cells = this.#cells;
    const workers = this.#workers;
    const sum = row * (2 * workers + 1);
    const own = sum + 1 + place;
    const waits = sum + 1 + workers;
    return {
      acquire(max) {
        if (Atomics.add(cells, sum, 1) >= max) {
          Atomics.sub(cells, sum, 1);
          return false;
        }
        Atomics.add(cells, own, 1);
        return true;
      },
      release() {
        Atomics.sub(cells, own, 1);
        Atomics.sub(cells, sum, 1);
      },
      waiting(yes) {
        Atomics.store(cells, waits + place, yes ? 1 : 0);
      },
      get wanted() {
        for (let i = 0; i < workers; i++) if (i !== place && Atomics.load(cells, waits + i) === 1) return true;
        return false;
      },
    };
  }

  /** Whether any worker holds a connection by that row, or waits for one. */
  isUsed(row: number): boolean {
    if (row >= rowsMax) return false;
    const width = 2 * this.#workers + 1;
    return this.#cells.subarray(row * width, (row + 1) * width).some((_, at, cells) => Atomics.load(cells, at) !== 0);
  }

  /** The worker at `place` has fallen, and its connections with it. */
  forget(place: number): void {
    for (let sum = 0; sum < this.#cells.length; sum += 2 * this.#workers + 1) {
      Atomics.store(this.#cells, sum + 1 + this.#workers + place, 0);
      const held = Atomics.exchange(this.#cells, sum + 1 + place, 0);
      if (held !== 0) Atomics.sub(this.#cells, sum, held);
    }
  }
}

/** One thread counting for itself. */
export class OwnCount implements ConnectionLimit {
  readonly wanted = false;
  #count = 0;

  acquire(max: number): boolean {
    if (this.#count >= max) return false;
    this.#count++;
    return true;
  }

  release(): void {
    this.#count--;
  }

  waiting(): void {}
}

/** Gives each destination id its row, and the same one again as long as it is kept. */
export class RowBook {
  readonly #rows = new Map<string, number>();
  readonly #free: number[] = [];

  rowOf(id: string): number {
    const known = this.#rows.get(id);
    if (known !== undefined) return known;
    const row = this.#free.pop() ?? this.#rows.size;
    this.#rows.set(id, row);
    return row;
  }

  /** Takes back the rows of all other ids, except those that are still used. */
  keep(ids: ReadonlyMap<string, unknown>, counts: ConnectionCounts): void {
    for (const [id, row] of this.#rows) {
      if (ids.has(id) || counts.isUsed(row)) continue;
      this.#rows.delete(id);
      this.#free.push(row);
    }
  }
}
