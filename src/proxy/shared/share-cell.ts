// Share of the traffic that a candidate serves at this moment: one number that main sets and every worker reads, so
// that a share changes for all of them at once and needs no new table.

/** Steps of a share: ten millionths of a percent. */
const perPercent = 10_000_000;

export class ShareCell {
  readonly buffer: SharedArrayBuffer;
  readonly #cell: Int32Array;

  /** Begins with nothing. */
  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(4)) {
    this.buffer = buffer;
    this.#cell = new Int32Array(buffer);
  }

  /** Percent, 0 to 100. */
  set percent(percent: number) {
    Atomics.store(this.#cell, 0, Math.round(Math.min(100, Math.max(0, percent)) * perPercent));
  }

  /** 0 to 1. */
  get fraction(): number {
    return Atomics.load(this.#cell, 0) / (100 * perPercent);
  }
}
