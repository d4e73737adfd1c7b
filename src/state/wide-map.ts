// A map of as many entries as a table may have. One of Node's moves all of them whenever it grows, which holds a thread for
// 20 ms at a hundred thousand; here a part of them moves at a time.

/** Parts; each has 2,000 of a hundred thousand entries. */
const width = 64;

export class WideMap<V> {
  readonly #parts = Array.from({ length: width }, () => new Map<string, V>());

  get(key: string): V | undefined {
    return this.#partOf(key).get(key);
  }

  set(key: string, value: V): void {
    this.#partOf(key).set(key, value);
  }

  delete(key: string): void {
    this.#partOf(key).delete(key);
  }

  /** In no order. */
  *values(): Generator<V, void> {
    for (const part of this.#parts) yield* part.values();
  }

  /** Ids and names that are alike mostly differ in their last characters. */
  #partOf(key: string): Map<string, V> {
    const last = key.length - 1;
    const mixed = (key.charCodeAt(last) | 0) + 7 * (key.charCodeAt(last - 1) | 0) + 31 * (key.charCodeAt(last - 2) | 0);
    return this.#parts[mixed % width] as Map<string, V>;
  }
}
