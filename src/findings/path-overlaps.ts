// Overlaps of paths in a table, by hashes: rules that compare entries leave out those whose path no other entry shares. Two
// paths of one hash count as one, so that too many are compared and none too few.
import { HashSlots, hashSeed, hashStep } from '../proxy/match/hash-slots.ts';
import type { RankedEntry } from '../proxy/match/route-entry.ts';
import { literalStart } from './pattern-sample.ts';

/** Bits of a path. */
const isPrefix = 1;
const isShared = 2;
const holdsOthers = 4;
const isHeld = 8;

/** Entries between two pauses. */
const stride = 256;
const slash = 0x2f;

export class PathOverlaps {
  readonly #slots: HashSlots;
  /** Bits by the number of a path. */
  readonly #paths: Uint8Array;
  /** Numbers of the paths, and bits, by the place of an entry. */
  readonly #pathOf: Int32Array;
  readonly #entries: Uint8Array;
  #count = 0;

  private constructor(size: number) {
    this.#slots = new HashSlots(size);
    this.#paths = new Uint8Array(size);
    this.#pathOf = new Int32Array(size);
    this.#entries = new Uint8Array(size);
  }

  /** In steps: two passes over the paths. */
  static *of(entries: readonly RankedEntry[]): Generator<void, PathOverlaps> {
    const made = new PathOverlaps(entries.length);
    for (let at = 0; at < entries.length; at++) {
      if (at % stride === 0) yield;
      made.#add(at, entries[at]?.path);
    }
    for (let at = 0; at < entries.length; at++) {
      if (at % stride === 0) yield;
      if (made.#findHolders(entries[at]?.path)) made.#entries[at] = isHeld;
    }
    return made;
  }

  /** Returns whether another entry has the path of the entry at that place. */
  isShared(at: number): boolean {
    return ((this.#paths[this.#pathOf[at] ?? 0] ?? 0) & isShared) !== 0;
  }

  /** Returns whether the path of the entry at that place may hold paths of another, or lie within one. */
  isNested(at: number): boolean {
    const bits = (this.#paths[this.#pathOf[at] ?? 0] ?? 0) | (this.#entries[at] ?? 0);
    return (bits & (isShared | holdsOthers | isHeld)) !== 0;
  }

  #add(at: number, path: RankedEntry['path'] | undefined): void {
    const { type, text = '' } = path ?? {};
    let hash = hashSeed(0);
    for (let i = 0; i < text.length; i++) hash = hashStep(hash, text.charCodeAt(i));
    const known = this.#numberOf(hash);
    const number = known < 0 ? this.#count++ : known;
    if (known < 0) this.#slots.add(hash, number);
    else this.#paths[number] = (this.#paths[number] ?? 0) | isShared;
    if (type === 'prefix') this.#paths[number] = (this.#paths[number] ?? 0) | isPrefix;
    this.#pathOf[at] = number;
  }

  /** Marks the shorter prefixes that hold the path. Returns whether there are any. */
  #findHolders(path: RankedEntry['path'] | undefined): boolean {
    const { type, text = '' } = path ?? {};
    // The start of a pattern is no path of its own: it may be a prefix that holds the pattern.
    const whole = type === 'regex' ? `${literalStart(text)}/` : text;
    let found = false;
    let hash = hashSeed(0);
    for (let i = 0; i < whole.length; i++) {
      if (whole.charCodeAt(i) === slash || i === 0) found = this.#marksHolder(hash) || found;
      hash = hashStep(hash, whole.charCodeAt(i));
    }
    return found;
  }

  #marksHolder(hash: number): boolean {
    const number = this.#numberOf(hash);
    const bits = this.#paths[number] ?? 0;
    if ((bits & isPrefix) === 0) return false;
    this.#paths[number] = bits | holdsOthers;
    return true;
  }

  /** Number of a path by its hash; −1 where there is none. */
  #numberOf(hash: number): number {
    const slot = this.#slots.first(hash);
    return slot < 0 ? -1 : this.#slots.number(slot);
  }
}
