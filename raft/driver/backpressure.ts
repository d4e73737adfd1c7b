// Credit for one direction of a thread border (architecture.md §7.2): the raft worker may have at most 8 MiB of
// committed entries with main that main has not applied. What does not fit stays in the log and is read later.

export const creditBytesMax = 8 * 1024 * 1024;

/** Counts bytes in flight by the index of the last entry of each batch. */
export class Credit {
  readonly #bytesMax: number;
  #inFlight: { readonly last: number; readonly bytes: number }[] = [];
  #bytes = 0;

  constructor(bytesMax = creditBytesMax) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes that may be sent now. With nothing in flight it is the whole credit. */
  get available(): number {
    return Math.max(0, this.#bytesMax - this.#bytes);
  }

  /** True while nothing is in flight: then one entry may go whatever its size, or it would never go. */
  get idle(): boolean {
    return this.#inFlight.length === 0;
  }

  /** A batch that ends with entry `last` was handed over. */
  spend(last: number, bytes: number): void {
    this.#inFlight.push({ last, bytes });
    this.#bytes += bytes;
  }

  /** The receiver has applied everything up to `index`. */
  settle(index: number): void {
    const settled = this.#inFlight.filter((batch) => batch.last <= index);
    this.#inFlight = this.#inFlight.slice(settled.length);
    for (const batch of settled) this.#bytes -= batch.bytes;
  }
}
