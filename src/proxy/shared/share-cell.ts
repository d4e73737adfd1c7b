// Share of the traffic that a candidate serves at this moment, and of the requests that are matched against it without
// being served: numbers that main sets and every worker reads, so that they change for all of them at once and need no
// new table.

/** Steps of a share: ten millionths of a percent. */
const perPercent = 10_000_000;

export class ShareCell {
  readonly buffer: SharedArrayBuffer;
  readonly #cell: Int32Array;

  /** Begins with nothing. */
  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(8)) {
    this.buffer = buffer;
    this.#cell = new Int32Array(buffer);
  }

  /** Percent, 0 to 100. */
  set percent(percent: number) {
    Atomics.store(this.#cell, 0, Math.round(Math.min(100, Math.max(0, percent)) * perPercent));
  }

  /** One in so many requests that stable serves is compared; 0: none. */
  set shadowSample(sample: number) {
    Atomics.store(this.#cell, 1, sample);
  }

  get shadowSample(): number {
    return Atomics.load(this.#cell, 1);
  }

  /** 0 to 1. */
  get fraction(): number {
    return Atomics.load(this.#cell, 0) / (100 * perPercent);
  }
}
