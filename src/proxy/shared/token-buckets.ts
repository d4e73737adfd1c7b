// Token buckets, one per client address, counted by all workers of the process in one block of shared memory
// (contract.md §8.2, architecture.md §2). No lock, no message: a bucket is one number that is exchanged by
// compare-and-swap. The block has a fixed size; a new address takes a place whose bucket is full again, for a full
// bucket is the same as none, and if there is no such place the one that is nearest to it.

/** Fill rate of a limiter's buckets; the same in every worker. */
export interface BucketRate {
  readonly requestsPerSecond: number;
  /** Tokens in a full bucket; at least 1. */
  readonly burst: number;
}

/** Places that share a hash; their keys lie side by side. */
const groupSize = 8;
/** Per place: the key and the time, eight bytes each. */
const placeBytes = 16;

/** Units per millisecond, about 4 ns: sums of them stay exact for a year. */
const unitsPerMs = 2 ** 18;
/** Slower than one token in half a year counts as that. */
const intervalMax = 2 ** 52;

/**
 * Maximum number of addresses that a block distinguishes: a power of two. 16 bytes each, and only those that were
 * used.
 */
export const placesMax = 131_072;

export class TokenBuckets {
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
    this.#seed = seed | 1;
  }

  /** Memory for so many addresses, at least one group. */
  static memory(places: number): SharedArrayBuffer {
    return new SharedArrayBuffer(Math.max(groupSize, places) * placeBytes);
  }

  /**
   * Takes a token from the bucket of the address with that key. 0 when there was one, else the milliseconds until
   * there is. `nowMs` counts alike in all workers and starts at some time after the process did.
   */
  take(key: AddressKey, nowMs: number): number {
    const now = Math.floor(nowMs * unitsPerMs);
    const place = this.#placeOf(key, now);
    for (;;) {
      const seen = Atomics.load(this.#fullAt, place);
      const fullAt = Math.max(now, Number(seen));
      const missing = fullAt - now - this.#slack;
      if (missing > 0) return missing / unitsPerMs;
      if (Atomics.compareExchange(this.#fullAt, place, seen, BigInt(fullAt + this.#interval)) === seen) return 0;
    }
  }

  /** Returns the place of the address's bucket, new if it has none. */
  #placeOf({ high, low }: AddressKey, now: number): number {
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
    let hash = Math.imul(high ^ this.#seed, 0x9e3779b1) ^ low;
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) ^ this.#seed;
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
    return ((hash >>> 0) % this.#groups) * groupSize;
  }
}

/** 64 bits that stand for a client: an IPv4 address, or the /64 of an IPv6 one. Never both zero. */
export interface AddressKey {
  readonly high: number;
  readonly low: number;
}

/** Used again by every look-up: nothing is allocated for it. */
class ReusedKey implements AddressKey {
  high = 0;
  low = 0;
}

const reused = new ReusedKey();

/** IPv4 has a place of its own among prefixes that are not routed: `::/16` with a mark. */
const ipv4High = 0x0000_0004;

/**
 * Returns the key of an address as text, IPv4 or IPv6; IPv4 within IPv6 is IPv4. The addresses of a /64 are one
 * client, since its holder has all of it. All texts that are no address share one key. Valid until the next call.
 */
export function addressKey(address: string): AddressKey {
  if (address.includes(':')) ipv6Key(address);
  else ipv4Key(address);
  return reused;
}

function ipv4Key(address: string): void {
  reused.high = ipv4High;
  reused.low = ipv4Number(address, 0);
}

function ipv4Number(address: string, start: number): number {
  let whole = 0;
  let part = 0;
  for (let i = start; i < address.length; i++) {
    const code = address.charCodeAt(i);
    if (code === dot) {
      whole = (whole << 8) | part;
      part = 0;
    } else part = part * 10 + (code - zero);
  }
  return (whole << 8) | part | 0;
}

const dot = 46;
const zero = 48;

function ipv6Key(address: string): void {
  const groups = ipv6Groups(address);
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    reused.high = ipv4High;
    reused.low = ((groups[6] ?? 0) << 16) | (groups[7] ?? 0) | 0;
    return;
  }
  const [first = 0, second = 0, third = 0, fourth = 0] = groups;
  reused.high = (first << 16) | second | 0;
  reused.low = (third << 16) | fourth | 0;
  // The prefix ::/64, loopback among others, must not look like a free place.
  if (reused.high === 0 && reused.low === 0) reused.high = 1;
}

/** The eight groups of an IPv6 address. */
function ipv6Groups(address: string): number[] {
  const [bare = ''] = address.split('%');
  const [left = '', right] = bare.split('::');
  const head = groupsOf(left);
  if (right === undefined) return head;
  const tail = groupsOf(right);
  return [...head, ...new Array<number>(Math.max(0, 8 - head.length - tail.length)).fill(0), ...tail];
}

function groupsOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16) || 0];
    const whole = ipv4Number(group, 0);
    return [(whole >>> 16) & 0xffff, whole & 0xffff];
  });
}
