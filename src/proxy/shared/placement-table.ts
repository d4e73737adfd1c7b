// Placements of sticky sessions that the process knows: the last target of each, in memory that all workers share
// (contract.md §7.7). A bounded hash table of groups; in a full group the placement that would expire first is evicted.
// Written without a lock: an entry is valid by its check word, and an entry that two workers wrote at a time is
// invalid.

/** Entries that share a hash. */
const groupSize = 8;
/** Key (two words), mark of the target, time of expiry, check. */
const words = 5;
const entryBytes = words * Int32Array.BYTES_PER_ELEMENT;

/** Sessions that the process remembers, 20 bytes each: a power of two. */
const placementsMax = 131_072;

export class PlacementTable {
  readonly buffer: SharedArrayBuffer;
  readonly #cells: Int32Array;
  readonly #groups: number;
  /** Key of the text that was hashed last. */
  #high = 0;
  #low = 0;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(placementsMax * entryBytes)) {
    this.buffer = buffer;
    this.#cells = new Int32Array(buffer);
    this.#groups = buffer.byteLength / entryBytes / groupSize;
  }

  /** For so many placements; a multiple of 8. */
  static of(placements: number): PlacementTable {
    return new PlacementTable(new SharedArrayBuffer(placements * entryBytes));
  }

  /** Mark of the target that was set for `key`; 0 when none is known, or its time has passed. `nowS`: Unix seconds. */
  get(key: string, nowS: number): number {
    const at = this.#find(key);
    if (at < 0) return 0;
    return this.#expiry(at) > nowS ? Atomics.load(this.#cells, at + 2) : 0;
  }

  /** `mark`: not 0. `expiresS`: Unix seconds. */
  set(key: string, mark: number, expiresS: number): void {
    const known = this.#find(key);
    const at = known >= 0 ? known : this.#oldest();
    const cells = this.#cells;
    const [high, low, expires] = [this.#high, this.#low, Math.min(expiresS, 0x7fff_ffff) | 0];
    Atomics.store(cells, at + 4, ~checkOf(high, low, mark, expires));
    Atomics.store(cells, at, high);
    Atomics.store(cells, at + 1, low);
    Atomics.store(cells, at + 2, mark);
    Atomics.store(cells, at + 3, expires);
    Atomics.store(cells, at + 4, checkOf(high, low, mark, expires));
  }

  /** Place of the entry of that key, −1 when there is none. */
  #find(key: string): number {
    this.#hash(key);
    const first = this.#first();
    for (let at = first; at < first + groupSize * words; at += words) {
      if (Atomics.load(this.#cells, at) !== this.#high || Atomics.load(this.#cells, at + 1) !== this.#low) continue;
      if (this.#isWhole(at)) return at;
    }
    return -1;
  }

  /** Place in the group of the last key that is free, or would be first. */
  #oldest(): number {
    const first = this.#first();
    let oldest = first;
    let oldestS = Number.POSITIVE_INFINITY;
    for (let at = first; at < first + groupSize * words; at += words) {
      const expiresS = this.#isWhole(at) ? this.#expiry(at) : 0;
      if (expiresS >= oldestS) continue;
      oldest = at;
      oldestS = expiresS;
    }
    return oldest;
  }

  #first(): number {
    return ((this.#high >>> 0) % this.#groups) * groupSize * words;
  }

  #expiry(at: number): number {
    return Atomics.load(this.#cells, at + 3);
  }

  #isWhole(at: number): boolean {
    const cells = this.#cells;
    const mark = Atomics.load(cells, at + 2);
    const check = checkOf(Atomics.load(cells, at), Atomics.load(cells, at + 1), mark, this.#expiry(at));
    return mark !== 0 && Atomics.load(cells, at + 4) === check;
  }

  /** Two sums of the text, 64 bits together. */
  #hash(text: string): void {
    let high = 0x811c_9dc5 | 0;
    let low = 0x2545_f491;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      high = Math.imul(high ^ code, 0x0100_0193);
      low = Math.imul(low ^ code, 0x5bd1_e995);
      low ^= low >>> 13;
    }
    this.#high = Math.imul(high ^ (high >>> 15), 0x85eb_ca6b);
    this.#low = low;
  }
}

function checkOf(high: number, low: number, mark: number, expires: number): number {
  let check = Math.imul(high ^ 0x9e37_79b1, 0x85eb_ca6b) ^ low;
  check = Math.imul(check ^ (check >>> 16), 0xc2b2_ae35) ^ mark;
  return Math.imul(check ^ (check >>> 13), 0x27d4_eb2f) ^ expires;
}
