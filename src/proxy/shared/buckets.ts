// Buckets of one limit as a rate limiter sees them: those of the process, or parts of those of the cluster.
import type { BucketKey } from './bucket-key.ts';

export interface Buckets {
  /** Key of a text, not to be foreseen without the seed. Valid until the next call. */
  keyOf(text: string): BucketKey;
  /** Milliseconds until the bucket has `cost` tokens: 0 when it has them, Infinity when it never will. Takes nothing. */
  waitMs(key: BucketKey, cost: number, nowMs: number): number;
  /** Takes `cost` tokens where the bucket has them, and returns whether it had. */
  takeSome(key: BucketKey, cost: number, nowMs: number): boolean;
  /** Gives back what `takeSome` took. */
  giveBack(key: BucketKey, cost: number): void;
  /** Whole tokens in the bucket. */
  tokens(key: BucketKey, nowMs: number): number;
  /** Milliseconds until the bucket is full. */
  fullInMs(key: BucketKey, nowMs: number): number;
}

/** Returns the number of the group of a key, of so many; the seed keeps it secret which keys share one. */
export function groupOf(high: number, low: number, seed: number, groups: number): number {
  let hash = Math.imul(high ^ seed, 0x9e3779b1) ^ low;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) ^ seed;
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash ^= hash >>> 16;
  return (hash >>> 0) % groups;
}
