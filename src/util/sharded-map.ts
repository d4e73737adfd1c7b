// Sharded map, for as many entries as a routing table may have.
import { partOf, parts } from './shard.ts';

export class WideMap<V> {
  readonly #parts = Array.from({ length: parts }, () => new Map<string, V>());

  get(key: string): V | undefined {
    return this.#partOf(key).get(key);
  }

  set(key: string, value: V): void {
    this.#partOf(key).set(key, value);
  }

  delete(key: string): void {
    this.#partOf(key).delete(key);
  }

  /** Yields the values in no order. */
  *values(): Generator<V, void> {
    for (const part of this.#parts) yield* part.values();
  }

  #partOf(key: string): Map<string, V> {
    return this.#parts[partOf(key)] as Map<string, V>;
  }
}
