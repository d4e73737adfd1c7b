// Places of subjects by their names, in memory that all threads share: a table of open addressing by a hash of the name.
// Workers claim places; main retires those of subjects that no configuration has any more, and releases them later. Pages
// that none uses take no memory.

const probesMax = 64;
/** Keys of places without a subject: never taken, and free again. */
const untaken = 0n;
const released = -1n;
/** Key of a place whose figures are still to be cleared. */
const retired = -2n;
const isSubject = (key: bigint): boolean => key !== untaken && key !== released && key !== retired;

/** Bits of a claim: small integers, of which a place has the low ones and its generation the rest. */
const claimBits = 30;
/** Places that are looked at between two yields. */
const step = 512;

export class SharedKeys {
  readonly #keys: BigInt64Array<SharedArrayBuffer>;
  /** Number of times that each place was retired or released. */
  readonly #generations: Int32Array<SharedArrayBuffer>;
  /** Places that are taken, and rounds of releases. */
  readonly #counts: Int32Array<SharedArrayBuffer>;
  readonly #mask: number;
  readonly #placeBits: number;

  /** The number of places is a power of two. */
  constructor(bytes: SharedArrayBuffer, capacity: number) {
    this.#keys = new BigInt64Array(bytes, 0, capacity);
    this.#generations = new Int32Array(bytes, capacity * 8, capacity);
    this.#counts = new Int32Array(bytes, capacity * 12, 2);
    this.#mask = capacity - 1;
    this.#placeBits = Math.log2(capacity);
  }

  static bytesOf(capacity: number): number {
    return capacity * 12 + 8;
  }

  /** Number of places that are taken. */
  get taken(): number {
    return this.#counts[0] ?? 0;
  }

  get isCrowded(): boolean {
    return this.taken * 2 > this.#keys.length;
  }

  /**
   * Claims the place of a subject, taken now where it is new. Negative in a crowded table: nothing is known of the subject
   * until places are released.
   */
  claim(subject: string): number {
    const key = keyOf(subject);
    for (;;) {
      const place = this.#placeFor(key);
      if (place < 0) return -1 - (this.#counts[1] ?? 0);
      const found = Atomics.load(this.#keys, place);
      if (found === key) return this.#claimOn(place);
      if (isSubject(found) || Atomics.compareExchange(this.#keys, place, found, key) !== found) continue;
      Atomics.add(this.#counts, 0, 1);
      return this.#claimOn(place);
    }
  }

  /** Returns false for a claim whose place was given up: a new one has to be made. */
  holds(claim: number): boolean {
    if (claim < 0) return -1 - claim === this.#counts[1];
    return this.#generationOf(claim & this.#mask) === claim >> this.#placeBits;
  }

  /** Place of a claim that holds; −1 where nothing is known of its subject. */
  placeOf(claim: number): number {
    return claim < 0 ? -1 : claim & this.#mask;
  }

  /** Yields the places of a subject: none, one, or two where threads and a release met. */
  *find(subject: string): Generator<number> {
    const key = keyOf(subject);
    for (const place of this.#probes(key)) {
      const found = this.#keys[place];
      if (found === untaken) return;
      if (found === key) yield place;
    }
  }

  /** Returns the key at a place as reports carry it; undefined without a subject. */
  textAt(place: number): string | undefined {
    const key = this.#keys[place] ?? untaken;
    return isSubject(key) ? textOf(key) : undefined;
  }

  /** Retires the places of subjects that are not alive, in steps. Returns their number. Called by main. */
  *retire(isAlive: (key: bigint) => boolean): Generator<void, number> {
    let count = 0;
    for (let place = 0; place <= this.#mask; place++) {
      if (place % step === 0) yield;
      const key = Atomics.load(this.#keys, place);
      if (!isSubject(key) || isAlive(key) || Atomics.compareExchange(this.#keys, place, key, retired) !== key) continue;
      Atomics.add(this.#generations, place, 1);
      count++;
    }
    return count;
  }

  /** Frees retired places, in steps, once no worker counts there any more. Called by main. */
  *release(clear: (place: number) => void): Generator<void, void> {
    for (let place = 0; place <= this.#mask; place++) {
      if (place % step === 0) yield;
      if (Atomics.load(this.#keys, place) !== retired) continue;
      clear(place);
      // A claim that was made while the place was retired ends as well.
      Atomics.add(this.#generations, place, 1);
      Atomics.store(this.#keys, place, released);
      Atomics.sub(this.#counts, 0, 1);
    }
    Atomics.add(this.#counts, 1, 1);
  }

  /** Returns the place of a key, or else the first that may be taken; −1 where there is none. */
  #placeFor(key: bigint): number {
    let free = -1;
    for (const place of this.#probes(key)) {
      const found = Atomics.load(this.#keys, place);
      if (found === key) return place;
      if (found === untaken) return free < 0 ? place : free;
      if (found === released && free < 0) free = place;
    }
    return free;
  }

  *#probes(key: bigint): Generator<number> {
    const first = Number(key & BigInt(this.#mask));
    for (let probe = 0; probe < probesMax; probe++) yield (first + probe) & this.#mask;
  }

  #claimOn(place: number): number {
    return (this.#generationOf(place) << this.#placeBits) | place;
  }

  #generationOf(place: number): number {
    return (this.#generations[place] ?? 0) & ((1 << (claimBits - this.#placeBits)) - 1);
  }
}

/** Returns the key of a subject as reports carry it, the same in every process. */
export const keyText = (subject: string): string => textOf(keyOf(subject));

const textOf = (key: bigint): string => BigInt.asUintN(64, key).toString(36);

/** 64 bits of two FNV-1a hashes, none of those that stand for no subject. */
export function keyOf(subject: string): bigint {
  let one = 0x811c9dc5;
  let other = 0x01234567;
  for (let at = 0; at < subject.length; at++) {
    const unit = subject.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul(other ^ (unit + at), 0x85ebca6b);
  }
  const key = BigInt.asIntN(64, (BigInt(one >>> 0) << 32n) | BigInt(other >>> 0));
  return isSubject(key) ? key : key + 3n;
}
