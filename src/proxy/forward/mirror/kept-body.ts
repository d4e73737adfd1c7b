// Body of a compared response: kept up to a limit, beyond it its length and SHA-256. The memory of all kept bodies of a
// process is bounded.
import { createHash, type Hash } from 'node:crypto';

/** Bytes of all kept bodies of a process. */
const processBytesMax = 16 << 20;
const firstBytes = 1_024;

/** Kept bytes of this worker, and their limit. */
const memory = { bytes: 0, max: processBytesMax };

/** Gives this worker its part of the memory of the process. */
export function shareKeptBytes(workers: number): void {
  memory.max = Math.floor(processBytesMax / workers);
}

/** Returns the memory of all kept bodies of this worker. */
export const allKeptBytes = (): number => memory.bytes;

export class KeptBody {
  length = 0;
  readonly #bytesMax: number;
  #bytes: Buffer | undefined;
  #hash: Hash | undefined;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Adds a chunk; returns false when there is no memory for it. */
  push(chunk: Buffer): boolean {
    const length = this.length + chunk.length;
    if (length > this.#bytesMax) this.#hash ??= this.#hashed();
    else if (!this.#fit(length)) return false;
    if (this.#hash !== undefined) this.#hash.update(chunk);
    else if (this.#bytes !== undefined) chunk.copy(this.#bytes, this.length);
    this.length = length;
    return true;
  }

  /** The body; undefined when it is longer than the limit. */
  get bytes(): Buffer | undefined {
    if (this.#hash !== undefined) return undefined;
    return this.#bytes?.subarray(0, this.length) ?? Buffer.alloc(0);
  }

  /** Ends a body that is longer than the limit; returns its length and hash as text. */
  digest(): string {
    const hash = this.#hash ?? createHash('sha256').update(this.bytes ?? '');
    return `${this.length} bytes, SHA-256 ${hash.digest('hex')}`;
  }

  clear(): void {
    memory.bytes -= this.#bytes?.length ?? 0;
    this.#bytes = undefined;
  }

  #fit(length: number): boolean {
    const size = this.#bytes?.length ?? 0;
    if (length <= size) return true;
    const wanted = Math.min(this.#bytesMax, Math.max(length, 2 * size, firstBytes));
    if (memory.bytes - size + wanted > memory.max) return false;
    const bytes = Buffer.allocUnsafeSlow(wanted);
    this.#bytes?.copy(bytes, 0, 0, this.length);
    memory.bytes += wanted - size;
    this.#bytes = bytes;
    return true;
  }

  #hashed(): Hash {
    const hash = createHash('sha256').update(this.bytes ?? '');
    this.clear();
    return hash;
  }
}
