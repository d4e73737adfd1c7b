// Body of a compared response: kept up to a limit, beyond it its length and SHA-256. The memory of all kept bodies of a
// process is bounded.
import { createHash, type Hash } from 'node:crypto';
import { blockBytes, giveBytes, takeBytes } from './kept-bytes.ts';

const firstBytes = 1_024;

export class KeptBody {
  length = 0;
  readonly #bytesMax: number;
  /** Whole blocks but for the last, which is full or of any size up to a block. */
  readonly #blocks: Buffer[] = [];
  /** Bytes of the first block, where the length of the body is known. */
  #expected = firstBytes;
  #hash: Hash | undefined;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Announces the length of the body: one beyond the limit is never kept. */
  expect(bytes: number): void {
    if (bytes > this.#bytesMax) this.#hash ??= this.#hashed();
    else this.#expected = Math.max(1, bytes);
  }

  /** Adds a chunk; returns false when there is no memory for it. */
  push(chunk: Buffer): boolean {
    if (this.length + chunk.length > this.#bytesMax) this.#hash ??= this.#hashed();
    if (this.#hash !== undefined) this.#hash.update(chunk);
    else if (!this.#keep(chunk)) return false;
    this.length += chunk.length;
    return true;
  }

  /** The body; undefined when it is longer than the limit. */
  get bytes(): Buffer | undefined {
    if (this.#hash !== undefined) return undefined;
    const [first] = this.#blocks;
    if (first === undefined) return Buffer.alloc(0);
    return this.#blocks.length === 1 ? first.subarray(0, this.length) : Buffer.concat(this.#blocks, this.length);
  }

  /** Returns whether both bodies are kept, and the same. */
  isSame(other: KeptBody): boolean {
    if (this.#hash !== undefined || other.#hash !== undefined || this.length !== other.length) return false;
    for (let at = 0, left = this.length; left > 0; at++, left -= blockBytes) {
      const [one, its] = [this.#blocks[at], other.#blocks[at]];
      const end = Math.min(left, blockBytes);
      if (one === undefined || its === undefined || one.compare(its, 0, end, 0, end) !== 0) return false;
    }
    return true;
  }

  /** Ends a body that is longer than the limit; returns its length and hash as text. */
  digest(): string {
    const hash = this.#hash ?? this.#hashed();
    return `${this.length} bytes, SHA-256 ${hash.digest('hex')}`;
  }

  clear(): void {
    for (const block of this.#blocks) giveBytes(block);
    this.#blocks.length = 0;
  }

  /** Copies a chunk; a part of one for which there is no memory does not count. */
  #keep(chunk: Buffer): boolean {
    for (let from = 0; from < chunk.length; ) {
      const at = this.length + from;
      const place = at % blockBytes;
      const block = this.#blockFor(Math.floor(at / blockBytes), place, chunk.length - from);
      if (block === undefined) return false;
      from += chunk.copy(block, place, from, from + block.length - place);
    }
    return true;
  }

  /** Block at that place in the list with room behind its first `used` bytes; undefined when there is no memory. */
  #blockFor(at: number, used: number, wanted: number): Buffer | undefined {
    const known = this.#blocks[at];
    if (known !== undefined && known.length > used) return known;
    const least = at === 0 ? Math.max(used + wanted, 2 * used, this.#expected) : blockBytes;
    const taken = takeBytes(Math.min(blockBytes, least));
    if (taken === undefined) return undefined;
    if (known !== undefined) {
      known.copy(taken, 0, 0, used);
      giveBytes(known);
    }
    this.#blocks[at] = taken;
    return taken;
  }

  #hashed(): Hash {
    const hash = createHash('sha256');
    for (let at = 0, left = this.length; left > 0; at++, left -= blockBytes)
      hash.update(this.#blocks[at]?.subarray(0, left) ?? '');
    this.clear();
    return hash;
  }
}
