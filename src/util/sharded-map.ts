// Sharded map, for as many entries as a routing table may have.
import { shardCount, shardOf } from './shard.ts';

export class ShardedMap<V> {
  readonly #shards = Array.from({ length: shardCount }, () => new Map<string, V>());

  get(key: string): V | undefined {
    return this.#shardOf(key).get(key);
  }

  set(key: string, value: V): void {
    this.#shardOf(key).set(key, value);
  }

  delete(key: string): void {
    this.#shardOf(key).delete(key);
  }

  /** Yields the values in no order. */
  *values(): Generator<V, void> {
    for (const shard of this.#shards) yield* shard.values();
  }

  #shardOf(key: string): Map<string, V> {
    return this.#shards[shardOf(key)] as Map<string, V>;
  }
}
