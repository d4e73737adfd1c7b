// Reachability of the store of sticky sessions: one number per worker, in memory that main reads.

const unknown = 0;
const down = 1;
const up = 2;

export class StoreReach {
  readonly buffer: SharedArrayBuffer;
  readonly #cells: Int32Array;

  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer;
    this.#cells = new Int32Array(buffer);
  }

  static of(workers: number): StoreReach {
    return new StoreReach(new SharedArrayBuffer(workers * Int32Array.BYTES_PER_ELEMENT));
  }

  set(place: number, reached: boolean): void {
    Atomics.store(this.#cells, place, reached ? up : down);
  }

  /** By worker, those that use no store left out. */
  read(): readonly { readonly place: number; readonly reached: boolean }[] {
    return Array.from(this.#cells, (_, place) => ({ place, state: Atomics.load(this.#cells, place) }))
      .filter(({ state }) => state !== unknown)
      .map(({ place, state }) => ({ place, reached: state === up }));
  }
}
