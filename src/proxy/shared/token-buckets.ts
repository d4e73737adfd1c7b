// Token buckets, one per client address, counted by all workers of the process in one block of shared memory
// (contract.md §8.2, architecture.md §2). No lock, no message: a bucket is one number that is exchanged by
// compare-and-swap. The block has a fixed size; a new address takes a place whose bucket is full again, for a full
// bucket is the same as none, and if there is no such place the one that is nearest to it.

import type { BucketRate } from '../../model/limit-rates.ts';
import { type BucketKey, textKey } from './bucket-key.ts';
import { type Buckets, groupOf } from './buckets.ts';

/** Places that share a hash; their keys lie side by side. */
const groupSize = 8;
/** Per place: the key and the time, eight bytes each. */
const placeBytes = 16;

/** Units per millisecond, about 4 ns: sums of them stay exact for a year. */
const unitsPerMs = 2 ** 18;
/** Rounding of the units must not hide a token. */
const tokenTolerance = 1e-6;
/** Units that clocks of workers may be apart. */
const apartMax = 1_000 * unitsPerMs;
/** Slower than one token in half a year counts as that. */
const intervalMax = 2 ** 52;

/**
 * Maximum number of addresses that a block distinguishes: a power of two. 16 bytes each, and only those that were
 * used.
 */
export const placesMax = 131_072;

export class TokenBuckets implements Buckets {
  readonly #keys: BigInt64Array;
  /** The same memory: keys are compared half by half, the low one first, which makes no bigint. */
  readonly #halves: Int32Array;
  /**
   * Time at which the bucket will be full if nothing more is taken, in units since `epochMs`. In the past: it is full. One
   * number is enough: the tokens missing from a full bucket are the time until then, divided by that of one token.
   */
  readonly #fullAt: BigInt64Array;
  readonly #groups: number;
  readonly #interval: number;
  readonly #slack: number;
  readonly #burst: number;
  readonly #seed: number;

  /** `seed` keeps it secret which addresses share a group. */
  constructor(memory: SharedArrayBuffer, { requestsPerSecond, burst }: BucketRate, seed: number) {
    const places = memory.byteLength / placeBytes;
    this.#keys = new BigInt64Array(memory, 0, places);
    this.#halves = new Int32Array(memory, 0, places * 2);
    this.#fullAt = new BigInt64Array(memory, places * 8, places);
    this.#groups = places / groupSize;
    this.#interval = Math.min(intervalMax, Math.max(1, Math.round((unitsPerMs * 1000) / requestsPerSecond)));
    this.#slack = Math.min(2 ** 61, (burst - 1) * this.#interval);
    this.#burst = burst;
    this.#seed = seed | 1;
  }

  /** Memory for so many addresses, at least one group. */
  static memory(places: number): SharedArrayBuffer {
    return new SharedArrayBuffer(TokenBuckets.bytesOf(places));
  }

  /** Returns the size of that memory. */
  static bytesOf(places: number): number {
    return Math.max(groupSize, places) * placeBytes;
  }

  /**
   * Takes a token from the bucket of the address with that key. 0 when there was one, else the milliseconds until
   * there is. `nowMs` counts alike in all workers and starts at some time after the process did.
   */
  take(key: BucketKey, nowMs: number): number {
    const now = Math.floor(nowMs * unitsPerMs);
    const place = this.#placeOf(key, now);
    for (;;) {
      const seen = this.#seen(place, now);
      const fullAt = Math.max(now, Number(seen));
      const missing = fullAt - now - this.#slack;
      if (missing > 0) return missing / unitsPerMs;
      if (Atomics.compareExchange(this.#fullAt, place, seen, BigInt(fullAt + this.#interval)) === seen) return 0;
    }
  }

  /**
   * Returns the milliseconds until the bucket with that key has `cost` tokens, a fraction or none too: 0 when it has
   * them, Infinity when it never will. Takes nothing.
   */
  waitMs(key: BucketKey, cost: number, nowMs: number): number {
    if (cost > this.#burst) return Number.POSITIVE_INFINITY;
    const now = Math.floor(nowMs * unitsPerMs);
    return Math.max(0, this.#untilFull(key, now) + this.#units(cost) - this.#interval - this.#slack) / unitsPerMs;
  }

  /** Takes `cost` tokens where the bucket has them, and returns whether it had. */
  takeSome(key: BucketKey, cost: number, nowMs: number): boolean {
    if (cost > this.#burst) return false;
    const now = Math.floor(nowMs * unitsPerMs);
    const units = this.#units(cost);
    if (units === 0) return true;
    const place = this.#placeOf(key, now);
    for (;;) {
      const seen = this.#seen(place, now);
      const fullAt = Math.max(now, Number(seen)) + units;
      if (fullAt - now > this.#interval + this.#slack) return false;
      if (Atomics.compareExchange(this.#fullAt, place, seen, BigInt(fullAt)) === seen) return true;
    }
  }

  /** Gives back what `takeSome` took. */
  giveBack({ high, low }: BucketKey, cost: number): void {
    const place = this.#find(this.#groupOf(high, low), high, low);
    if (place >= 0) Atomics.sub(this.#fullAt, place, BigInt(this.#units(cost)));
  }

  /** Whole tokens in the bucket with that key. */
  tokens(key: BucketKey, nowMs: number): number {
    const missing = this.#untilFull(key, Math.floor(nowMs * unitsPerMs)) / this.#interval;
    return Math.max(0, Math.floor(this.#burst - missing + tokenTolerance));
  }

  /** Milliseconds until the bucket with that key is full. */
  fullInMs(key: BucketKey, nowMs: number): number {
    return this.#untilFull(key, Math.floor(nowMs * unitsPerMs)) / unitsPerMs;
  }

  /** Key of a text, not to be foreseen without the seed. Valid until the next call. */
  keyOf(text: string): BucketKey {
    return textKey(text, this.#seed, Math.imul(this.#seed, 0x9e3779b1));
  }

  #units(cost: number): number {
    return Math.min(2 ** 61, Math.round(cost * this.#interval));
  }

  /**
   * Returns the time at which a bucket will be full. Memory is used again, and a request that still passes the former limiter
   * may leave a time in it that is beyond an empty bucket of this one: it counts as empty.
   */
  #seen(place: number, now: number): bigint {
    const seen = Atomics.load(this.#fullAt, place);
    const emptyUntil = now + this.#interval + this.#slack;
    if (Number(seen) <= emptyUntil + apartMax) return seen;
    const empty = BigInt(Math.floor(emptyUntil));
    return Atomics.compareExchange(this.#fullAt, place, seen, empty) === seen ? empty : this.#seen(place, now);
  }

  #untilFull({ high, low }: BucketKey, now: number): number {
    const place = this.#find(this.#groupOf(high, low), high, low);
    return place < 0 ? 0 : Math.max(0, Number(this.#seen(place, now)) - now);
  }

  /** Returns the place of the address's bucket, new if it has none. */
  #placeOf({ high, low }: BucketKey, now: number): number {
    const first = this.#groupOf(high, low);
    for (;;) {
      const known = this.#find(first, high, low);
      if (known >= 0) return known;
      const place = this.#fullest(first, now);
      const former = Atomics.load(this.#keys, place);
      const formerFullAt = Atomics.load(this.#fullAt, place);
      const key = (BigInt(high) << 32n) | BigInt(low >>> 0);
      // Another thread may have added the same address meanwhile, or another one here: then the next round sees it.
      if (this.#find(first, high, low) >= 0 || this.#fullest(first, now) !== place) continue;
      if (Atomics.compareExchange(this.#keys, place, former, key) === former) {
        this.#refill(place, formerFullAt, now);
        return place;
      }
    }
  }

  #find(first: number, high: number, low: number): number {
    const halves = this.#halves;
    for (let place = first; place < first + groupSize; place++) {
      if (Atomics.load(halves, 2 * place) === low && Atomics.load(halves, 2 * place + 1) === high) return place;
    }
    return -1;
  }

  /** The first place that is free or full, else the one that is nearest to it. */
  #fullest(first: number, now: number): number {
    let nearest = first;
    let nearestAt = Number.POSITIVE_INFINITY;
    for (let place = first; place < first + groupSize; place++) {
      const fullAt = Number(Atomics.load(this.#fullAt, place));
      if (fullAt <= now) return place;
      if (fullAt < nearestAt) {
        nearest = place;
        nearestAt = fullAt;
      }
    }
    return nearest;
  }

  /**
   * Fills the bucket for a new address: the tokens that the former address had taken do not count. Only happens when
   * every place of the group is in use.
   */
  #refill(place: number, formerFullAt: bigint, now: number): void {
    // As it was before the address came in: another thread may have taken from it already, and that counts.
    if (Number(formerFullAt) > now) Atomics.compareExchange(this.#fullAt, place, formerFullAt, 0n);
  }

  #groupOf(high: number, low: number): number {
    return groupOf(high, low, this.#seed, this.#groups) * groupSize;
  }
}
