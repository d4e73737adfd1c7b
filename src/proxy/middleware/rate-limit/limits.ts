// Limits of one limiter: each must allow the request, and one that is refused takes from none (contract.md §8.2).
import type { BucketKey } from '../../shared/bucket-key.ts';
import type { Buckets } from '../../shared/buckets.ts';

/** Takes `cost` tokens from each limit, or from none; returns whether it did. */
export function takeFromAll(limits: readonly Buckets[], key: BucketKey, cost: number, nowMs: number): boolean {
  // A look before: a request that is refused is seen by no other.
  for (const buckets of limits) if (buckets.waitMs(key, cost, nowMs) > 0) return false;
  for (const [place, buckets] of limits.entries()) {
    if (buckets.takeSome(key, cost, nowMs)) continue;
    // Another worker took the last tokens between the look and the taking.
    for (const former of limits.slice(0, place)) former.giveBack(key, cost);
    return false;
  }
  return true;
}

/** Milliseconds until all limits have `cost` tokens; at least 1, for another worker may just have taken them. */
export function waitForAll(limits: readonly Buckets[], key: BucketKey, cost: number, nowMs: number): number {
  let longest = 1;
  for (const buckets of limits) longest = Math.max(longest, buckets.waitMs(key, cost, nowMs));
  return longest;
}
