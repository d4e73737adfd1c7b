// Shards of large collections. A map of V8's moves all its entries whenever it grows, which blocks the thread for 20 ms at a
// hundred thousand; a shard has 2,000 to move.

/** Number of shards of a collection. */
export const shardCount = 64;

/** Returns the shard of a key, from its last three characters: similar ids and names mostly differ there. */
export function shardOf(key: string): number {
  const last = key.length - 1;
  // charCodeAt before the start gives NaN, which counts as 0.
  const sum = (key.charCodeAt(last) | 0) + 7 * (key.charCodeAt(last - 1) | 0) + 31 * (key.charCodeAt(last - 2) | 0);
  return sum % shardCount;
}
