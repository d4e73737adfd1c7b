// From the host of a request to the host patterns that match it: exactly this host, each `*.suffix` above it, and any
// host. All of them are asked; the order of the table decides, not the kind of pattern.

import type { HostPattern } from '../target/host.ts';
import { HashSlots, hashSeed, hashStep } from './hash-slots.ts';
import { isPacked, packText, wordsOf } from './packed-text.ts';

/** Offsets in a record: number of the pattern, length of its text, the text. */
const at = { number: 0, length: 1, text: 2 } as const;

/** Patterns are numbered in the order in which they come. */
export class HostIndex {
  /** Under the hash of the text: where the record begins. */
  readonly #exact = new HashSlots();
  readonly #suffixes = new HashSlots();
  #records = new Int32Array(64);
  #recordsEnd = 0;
  readonly #numbers: HostNumbers;
  #hasSuffixes = false;
  #any = -1;

  /** `numbers` are given to patterns of several indexes in turn. Default: to those of this one. */
  constructor(numbers: HostNumbers = { next: 0 }) {
    this.#numbers = numbers;
  }

  /** The number of a pattern; a new one when it has not been seen. */
  numberOf({ kind, text }: HostPattern): number {
    if (kind === 'any') {
      if (this.#any < 0) this.#any = this.#numbers.next++;
      return this.#any;
    }
    const slots = kind === 'exact' ? this.#exact : this.#suffixes;
    const hash = hashFromEnd(text);
    const known = this.#find(slots, hash, text, 0);
    if (known >= 0) return known;
    if (kind === 'suffix') this.#hasSuffixes = true;
    slots.add(hash, this.#record(text));
    return this.#numbers.next++;
  }

  /**
   * Writes the number of every pattern that matches `host` to `found`: suffixes from the shortest on, the host itself, any
   * host. Returns their count.
   */
  collect(host: string, found: number[]): number {
    let count = 0;
    let hash = seed;
    // A suffix stands for one or more labels: it never begins at the host's first character, and `.a.b` has an empty one.
    const withSuffixes = this.#hasSuffixes && host.charCodeAt(0) !== point;
    for (let i = host.length - 1; i >= 0; i--) {
      const code = host.charCodeAt(i);
      hash = hashStep(hash, code);
      if (code !== point || !withSuffixes) continue;
      const suffix = this.#find(this.#suffixes, hash, host, i);
      if (suffix >= 0) found[count++] = suffix;
    }
    const exact = this.#find(this.#exact, hash, host, 0);
    if (exact >= 0) found[count++] = exact;
    if (this.#any >= 0) found[count++] = this.#any;
    return count;
  }

  /** Returns the number of the most specific pattern: the host itself, its longest suffix, any host; -1 when none matches. */
  mostSpecific(host: string): number {
    const count = this.collect(host, specific);
    const isAny = this.#any >= 0;
    return count === 0 ? -1 : (specific[isAny && count > 1 ? count - 2 : count - 1] ?? -1);
  }

  /** The number of the pattern whose text is that of `host` from `start` on, which has this hash; -1 when there is none. */
  #find(slots: HashSlots, hash: number, host: string, start: number): number {
    const records = this.#records;
    for (let slot = slots.first(hash); slot >= 0; slot = slots.next(slot, hash)) {
      const record = slots.number(slot);
      if (records[record + at.length] !== host.length - start) continue;
      if (isPacked(records, record + at.text, host, start, host.length)) return records[record + at.number] ?? -1;
    }
    return -1;
  }

  #record(text: string): number {
    const record = this.#recordsEnd;
    this.#recordsEnd += at.text + wordsOf(text.length);
    if (this.#recordsEnd > this.#records.length) {
      const former = this.#records;
      this.#records = new Int32Array(2 * this.#recordsEnd);
      this.#records.set(former);
    }
    this.#records[record + at.number] = this.#numbers.next;
    this.#records[record + at.length] = text.length;
    packText(this.#records, record + at.text, text);
    return record;
  }
}

/** Next number for a new pattern. */
export interface HostNumbers {
  next: number;
}

const point = 0x2e;

/** Used again for each look-up. */
const specific: number[] = [];
const seed = hashSeed(0);

/** From the last character to the first: on its way through a host it passes the hash of every suffix. */
function hashFromEnd(text: string): number {
  let hash = seed;
  for (let i = text.length - 1; i >= 0; i--) hash = hashStep(hash, text.charCodeAt(i));
  return hash;
}
