// Tokens whose signature and lasting claims were found good, by the hash of their text: the next request with one of
// them costs a look-up. Only what cannot change is kept; times are compared with every request.
import { hash } from 'node:crypto';

/** Unix seconds between which a token counts, both included. */
export interface Lifetime {
  readonly notBefore: number;
  readonly expires: number;
}

/** Entries beyond this push out those not used for the longest time. */
const entriesMax = 8192;

/** Characters of token text that entries may stand for: what they hold grows with it. */
const charactersMax = 8 * 1024 * 1024;

/** Two generations: when the young one is full it becomes the old one, and what was not used since is gone. */
export class VerifiedTokens<Kept> {
  #young = new Map<string, Kept>();
  #old = new Map<string, Kept>();
  #characters = 0;
  readonly #entriesMax: number;

  constructor(max = entriesMax) {
    this.#entriesMax = max;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  keyOf(token: string): string {
    return hash('sha256', token, 'base64url');
  }

  get(key: string, length: number): Kept | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) {
      this.#old.delete(key);
      this.add(key, length, old);
    }
    return old;
  }

  /** `length` of the token's text. */
  add(key: string, length: number, kept: Kept): void {
    const full = this.#young.size >= this.#entriesMax / 2 || this.#characters + length > charactersMax / 2;
    if (full) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#characters = 0;
    }
    this.#young.set(key, kept);
    this.#characters += length;
  }
}
