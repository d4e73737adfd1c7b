// From the host of a request to the host patterns that match it: exactly this host, each `*.suffix` above it, and any
// host. All of them are asked; the order of the table decides, not the kind of pattern.
import { HashSlots, hashSeed, hashStep } from './hash-slots.ts';
import type { HostPattern } from './host.ts';

/** Patterns are numbered from 0 in the order in which they come. */
export class HostIndex {
  readonly #exact = new HashSlots();
  readonly #suffixes = new HashSlots();
  /** By number. */
  readonly #texts: string[] = [];
  #hasSuffixes = false;
  #any = -1;

  /** The number of a pattern; a new one when it has not been seen. */
  numberOf({ kind, text }: HostPattern): number {
    if (kind === 'any') {
      if (this.#any < 0) this.#any = this.#texts.push(text) - 1;
      return this.#any;
    }
    const slots = kind === 'exact' ? this.#exact : this.#suffixes;
    const hash = hashFromEnd(text);
    for (let slot = slots.first(hash); slot >= 0; slot = slots.next(slot, hash)) {
      const number = slots.number(slot);
      if (this.#texts[number] === text) return number;
    }
    if (kind === 'suffix') this.#hasSuffixes = true;
    const number = this.#texts.push(text) - 1;
    slots.add(hash, number);
    return number;
  }

  /** Gives the number of every pattern that matches `host` to `found`; returns how many there are. */
  collect(host: string, found: number[]): number {
    let count = 0;
    let hash = seed;
    // A suffix stands for one or more labels: it never begins at the host's first character, and `.a.b` has an empty one.
    const withSuffixes = this.#hasSuffixes && host.charCodeAt(0) !== point;
    for (let i = host.length - 1; i >= 0; i--) {
      const code = host.charCodeAt(i);
      hash = hashStep(hash, code);
      if (code !== point || !withSuffixes) continue;
      const suffix = this.#suffix(host, i, hash);
      if (suffix >= 0) found[count++] = suffix;
    }
    for (let slot = this.#exact.first(hash); slot >= 0; slot = this.#exact.next(slot, hash)) {
      const number = this.#exact.number(slot);
      if (this.#texts[number] === host) found[count++] = number;
    }
    if (this.#any >= 0) found[count++] = this.#any;
    return count;
  }

  #suffix(host: string, start: number, hash: number): number {
    for (let slot = this.#suffixes.first(hash); slot >= 0; slot = this.#suffixes.next(slot, hash)) {
      const number = this.#suffixes.number(slot);
      const text = this.#texts[number];
      if (text !== undefined && text.length === host.length - start && host.endsWith(text)) return number;
    }
    return -1;
  }
}

const point = 0x2e;
const seed = hashSeed(0);

/** From the last character to the first: on its way through a host it passes the hash of every suffix. */
function hashFromEnd(text: string): number {
  let hash = seed;
  for (let i = text.length - 1; i >= 0; i--) hash = hashStep(hash, text.charCodeAt(i));
  return hash;
}
