// Shards of large collections. A map of V8's moves all its entries whenever it grows, which blocks the thread for 20 ms at a
// hundred thousand; a shard has 2,000 to move. Shards have unequal shares of the keys, from one to two, so that they grow
// one after the other and not all at once, however evenly ids are counted up.

/** Number of shards of a collection. */
export const shardCount = 64;

const hashBits = 10;
/** Shard of each hash. */
const shards = new Uint8Array(2 ** hashBits);
for (let hash = 0; hash < shards.length; hash++)
  shards[hash] = Math.floor(shardCount * Math.log2(1 + hash / shards.length));

/** Returns the shard of a key, from its last three characters: similar ids and names mostly differ there. */
export function shardOf(key: string): number {
  const last = key.length - 1;
  // charCodeAt before the start gives NaN, which counts as 0.
  const sum =
    (key.charCodeAt(last) | 0) + 257 * (key.charCodeAt(last - 1) | 0) + 65_537 * (key.charCodeAt(last - 2) | 0);
  return shards[Math.imul(sum, 0x9e3779b1) >>> (32 - hashBits)] ?? 0;
}
