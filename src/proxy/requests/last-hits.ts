// Time of the last request of each route and destination, in memory that all threads share: workers write, main reads. A table of open
// addressing by a hash of its name; pages that none uses take no memory.

const capacity = 1 << 18;
const probesMax = 64;
/** A key and a time for each place. */
const placeBytes = 16;

export const newHitBytes = (): SharedArrayBuffer => new SharedArrayBuffer(capacity * placeBytes);

export class LastHits {
  readonly #keys: BigInt64Array;
  readonly #times: Float64Array;

  constructor(bytes: SharedArrayBuffer) {
    this.#keys = new BigInt64Array(bytes, 0, capacity);
    this.#times = new Float64Array(bytes, capacity * 8, capacity);
  }

  /** Returns the place of a subject, taken now where it is new; −1 in a crowded table: the hits are not known then. */
  placeOf(id: string): number {
    const key = hitKey(id);
    let place = Number(BigInt.asUintN(18, key));
    for (let probe = 0; probe < probesMax; probe++) {
      const found = Atomics.compareExchange(this.#keys, place, 0n, key);
      if (found === 0n || found === key) return place;
      place = (place + 1) & (capacity - 1);
    }
    return -1;
  }

  /** @param ms Unix milliseconds */
  hit(place: number, ms: number): void {
    if (place >= 0) this.#times[place] = ms;
  }

  /** Returns Unix milliseconds; undefined before the first hit. */
  read(id: string): number | undefined {
    const key = hitKey(id);
    let place = Number(BigInt.asUintN(18, key));
    for (let probe = 0; probe < probesMax; probe++) {
      const found = this.#keys[place];
      if (found === 0n) return undefined;
      if (found === key) return this.#times[place] || undefined;
      place = (place + 1) & (capacity - 1);
    }
    return undefined;
  }

  /** Returns up to `most` subjects that were hit after a time, by the text of their keys, longest ago first. */
  since(ms: number, most: number): (readonly [key: string, ms: number])[] {
    const found: [place: number, ms: number][] = [];
    for (let place = 0; place < capacity; place++) {
      const at = this.#times[place] ?? 0;
      if (at > ms) found.push([place, at]);
    }
    found.sort(([, a], [, b]) => a - b);
    return found.slice(0, most).map(([place, at]) => [hitText(this.#keys[place] ?? 0n), at] as const);
  }
}

/** Returns the key of a subject as reports carry it. */
export const hitKeyText = (id: string): string => hitText(hitKey(id));

const hitText = (key: bigint): string => BigInt.asUintN(64, key).toString(36);

/** 64 bits of two FNV-1a hashes, never 0. */
function hitKey(id: string): bigint {
  let one = 0x811c9dc5;
  let other = 0x01234567;
  for (let at = 0; at < id.length; at++) {
    const unit = id.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul(other ^ (unit + at), 0x85ebca6b);
  }
  const key = BigInt.asIntN(64, (BigInt(one >>> 0) << 32n) | BigInt(other >>> 0));
  return key === 0n ? 1n : key;
}
