// An open hash table of numbers in one flat array: a look-up reads neighbouring words of memory and follows no pointer.
// Hashes are computed by the caller, character by character where the text lies, so that nothing is cut out of it.
import { randomBytes } from 'node:crypto';

/** Salt of this process: a client cannot choose names that all have one hash. */
const salt = randomBytes(4).readInt32LE();

/** Hash of the empty text; different seeds give hashes that have nothing to do with each other. */
export const hashSeed = (seed: number): number => Math.imul(seed + 1, 0x9e3779b1) ^ salt;

/** FNV-1a over UTF-16 units. */
export const hashStep = (hash: number, code: number): number => Math.imul(hash ^ code, 0x01000193);

const stride = 2;
const sizeMin = 16;

export class HashSlots {
  /** Hash, and number + 1; 0 where the slot is free. At most half of them are in use, so that runs stay short. */
  #slots = new Int32Array(0);
  #mask = 0;
  #shift = 0;
  #used = 0;

  /** `expected` numbers fit without growing. */
  constructor(expected = 0) {
    this.#resize(Math.max(sizeMin, 2 ** Math.ceil(Math.log2(2 * expected + 1))));
  }

  /** Several numbers may have the same hash. */
  add(hash: number, number: number): void {
    if (2 * (this.#used + 1) > this.#mask + 1) this.#resize(2 * (this.#mask + 1));
    this.#used++;
    this.#put(hash, number + 1);
  }

  /** The first slot in use with this hash, or -1. Whether it is the text that was meant, the caller must find out. */
  first(hash: number): number {
    return this.#from(this.#home(hash), hash);
  }

  /** The slot after `slot` with the same hash, or -1. */
  next(slot: number, hash: number): number {
    return this.#from((slot + 1) & this.#mask, hash);
  }

  number(slot: number): number {
    return (this.#slots[stride * slot + 1] ?? 0) - 1;
  }

  #from(start: number, hash: number): number {
    const slots = this.#slots;
    for (let slot = start; slots[stride * slot + 1] !== 0; slot = (slot + 1) & this.#mask) {
      if (slots[stride * slot] === hash) return slot;
    }
    return -1;
  }

  /** The upper bits of a product: every bit of the hash has a part in them. */
  #home(hash: number): number {
    return Math.imul(hash, 0x9e3779b1) >>> this.#shift;
  }

  #put(hash: number, value: number): void {
    let slot = this.#home(hash);
    while (this.#slots[stride * slot + 1] !== 0) slot = (slot + 1) & this.#mask;
    this.#slots[stride * slot] = hash;
    this.#slots[stride * slot + 1] = value;
  }

  #resize(size: number): void {
    const former = this.#slots;
    this.#slots = new Int32Array(stride * size);
    this.#mask = size - 1;
    this.#shift = 32 - Math.log2(size);
    for (let i = 0; i < former.length; i += stride) {
      const value = former[i + 1] ?? 0;
      if (value !== 0) this.#put(former[i] ?? 0, value);
    }
  }
}
