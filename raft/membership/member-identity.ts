// Numbers and names that must be unique for ever: incarnations, cluster ids, runs (raft.md A19, bugs 17 and 18).

/** Fills memory with unpredictable bytes; `crypto.getRandomValues` in the product. */
export type RandomBytes = (into: Uint8Array) => Uint8Array;

/** Below 2^53: an incarnation of a new data directory, or the run of a process. */
export function drawNumber(random: RandomBytes): number {
  const bytes = Buffer.from(random(new Uint8Array(8)));
  return Number(bytes.readBigUInt64BE() >> 11n);
}

/** 32 hex digits, drawn once by the node that creates the cluster. */
export function drawClusterId(random: RandomBytes): string {
  return Buffer.from(random(new Uint8Array(16))).toString('hex');
}
