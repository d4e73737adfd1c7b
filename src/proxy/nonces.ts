// Random nonces, drawn many at a time: one system call for each alone costs more than the rest of a small cipher text.
import { randomFillSync } from 'node:crypto';

export class Nonces {
  readonly #length: number;
  readonly #bytes: Buffer;
  #at: number;

  /** @param length of each, in bytes. */
  constructor(length: number) {
    this.#length = length;
    this.#bytes = Buffer.alloc(256 * length);
    this.#at = this.#bytes.length;
  }

  /** Returns an unused one, to be copied before the next call. */
  next(): Buffer {
    if (this.#at === this.#bytes.length) {
      randomFillSync(this.#bytes);
      this.#at = 0;
    }
    const from = this.#at;
    this.#at += this.#length;
    return this.#bytes.subarray(from, this.#at);
  }
}
