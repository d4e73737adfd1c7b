// Places of subjects by their names, in memory that all threads share: a table of open addressing by a hash of the name. A
// place is taken once and stays; pages that none uses take no memory.

const probesMax = 64;

export class SharedKeys {
  readonly #keys: BigInt64Array;
  readonly #mask: number;

  /** The number of places is a power of two. */
  constructor(keys: BigInt64Array) {
    this.#keys = keys;
    this.#mask = keys.length - 1;
  }

  /** Returns the place of a subject, taken now where it is new; −1 in a crowded table: nothing is known of it then. */
  placeOf(subject: string): number {
    const key = keyOf(subject);
    let place = Number(key & BigInt(this.#mask));
    for (let probe = 0; probe < probesMax; probe++) {
      const found = Atomics.compareExchange(this.#keys, place, 0n, key);
      if (found === 0n || found === key) return place;
      place = (place + 1) & this.#mask;
    }
    return -1;
  }

  /** Returns the place of a subject; −1 where it has none. */
  find(subject: string): number {
    const key = keyOf(subject);
    let place = Number(key & BigInt(this.#mask));
    for (let probe = 0; probe < probesMax; probe++) {
      const found = this.#keys[place];
      if (found === 0n) return -1;
      if (found === key) return place;
      place = (place + 1) & this.#mask;
    }
    return -1;
  }

  /** Returns the key at a place as reports carry it. */
  textAt(place: number): string {
    return textOf(this.#keys[place] ?? 0n);
  }
}

/** Returns the key of a subject as reports carry it, the same in every process. */
export const keyText = (subject: string): string => textOf(keyOf(subject));

const textOf = (key: bigint): string => BigInt.asUintN(64, key).toString(36);

/** 64 bits of two FNV-1a hashes, never 0. */
function keyOf(subject: string): bigint {
  let one = 0x811c9dc5;
  let other = 0x01234567;
  for (let at = 0; at < subject.length; at++) {
    const unit = subject.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul(other ^ (unit + at), 0x85ebca6b);
  }
  const key = BigInt.asIntN(64, (BigInt(one >>> 0) << 32n) | BigInt(other >>> 0));
  return key === 0n ? 1n : key;
}
