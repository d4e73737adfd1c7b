// Keys of buckets: addresses exactly, texts by a keyed hash.

/** 64 bits that stand for a client: an IPv4 address, the /64 of an IPv6 one, or the hash of a text. Never both zero. */
export interface BucketKey {
  readonly high: number;
  readonly low: number;
}

/** Used again by every look-up: nothing is allocated for it. */
class ReusedKey implements BucketKey {
  high = 0;
  low = 0;
}

const reused = new ReusedKey();

/** IPv4 has a place of its own among prefixes that are not routed: `::/16` with a mark. */
const ipv4High = 0x0000_0004;

/** Key of the bucket that requests share whose text cannot be told. */
export const sharedKey: BucketKey = { high: 0, low: 1 };

/**
 * Key of a text: HalfSipHash-2-4 with a result of 64 bits (Aumasson and Bernstein, "SipHash: a fast short-input PRF",
 * and its reference implementation) over its UTF-16 units, so that a client cannot choose a text that shares the
 * bucket of another. Valid until the next call.
 */
export function textKey(text: string, key0: number, key1: number): BucketKey {
  state.v0 = key0;
  state.v1 = key1 ^ 0xee;
  state.v2 = 0x6c796765 ^ key0;
  state.v3 = 0x74656462 ^ key1;
  const { length } = text;
  for (let i = 0; i + 1 < length; i += 2) mix(text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16));
  mix((length % 2 === 1 ? text.charCodeAt(length - 1) : 0) | (length << 25));
  state.v2 ^= 0xee;
  for (let round = 0; round < 4; round++) turn();
  reused.low = state.v1 ^ state.v3;
  state.v1 ^= 0xdd;
  for (let round = 0; round < 4; round++) turn();
  reused.high = state.v1 ^ state.v3;
  if (reused.high === 0) reused.high = 1;
  return reused;
}

const state = { v0: 0, v1: 0, v2: 0, v3: 0 };

function mix(word: number): void {
  state.v3 ^= word;
  turn();
  turn();
  state.v0 ^= word;
}

/** One round of HalfSipHash. */
function turn(): void {
  let { v0, v1, v2, v3 } = state;
  v0 = (v0 + v1) | 0;
  v1 = rotated(v1, 5) ^ v0;
  v0 = rotated(v0, 16);
  v2 = (v2 + v3) | 0;
  v3 = rotated(v3, 8) ^ v2;
  v0 = (v0 + v3) | 0;
  v3 = rotated(v3, 7) ^ v0;
  v2 = (v2 + v1) | 0;
  v1 = rotated(v1, 13) ^ v2;
  v2 = rotated(v2, 16);
  state.v0 = v0;
  state.v1 = v1;
  state.v2 = v2;
  state.v3 = v3;
}

const rotated = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits));

/**
 * Returns the key of an address as text, IPv4 or IPv6; IPv4 within IPv6 is IPv4. The addresses of a /64 are one
 * client, since its holder has all of it. All texts that are no address share one key. Valid until the next call.
 */
export function addressKey(address: string): BucketKey {
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
