// Body buffer of a mirrored request: bytes that wait for its connection, bounded for one copy and for all of a
// worker. Large parts lie in buffers from the pool: a stalled connection would otherwise leave a new buffer behind
// for each part, and the collector's work for copies would delay requests.
import { acquire, pooledBytes, release } from '../../socket/buffer-pool.ts';

/** Pending bytes of one copy. */
export const waitingBytesMax = 1 << 20;
/** Pending bytes of all copies of a worker. */
const allWaitingBytesMax = 64 << 20;
/** Size below which a pooled buffer would hold more memory than it saves. */
const pooledBytesMin = pooledBytes / 4;
/** Size of a part that single bytes share. */
const partBytesMin = 2_048;

interface Part {
  readonly bytes: Buffer;
  length: number;
  readonly pooled: boolean;
}

/** Pending bytes of this worker. */
let allBytes = 0;

/** Returns the memory of all pending bytes of this worker's copies. */
export const allWaitingBytes = (): number => allBytes;

export class BodyBuffer {
  #parts: Part[] = [];
  #bytes = 0;

  /** Bytes of memory. */
  get bytes(): number {
    return this.#bytes;
  }

  get empty(): boolean {
    return this.#parts.length === 0;
  }

  /** Adds a chunk; returns false when it does not fit, and the copy cannot become whole any more. */
  push(chunk: Buffer): boolean {
    for (let at = 0; at < chunk.length; ) {
      const last = this.#parts.at(-1);
      const part = last !== undefined && last.length < last.bytes.length ? last : this.#begin(chunk.length - at);
      if (part === undefined) return false;
      const taken = chunk.copy(part.bytes, part.length, at);
      part.length += taken;
      at += taken;
    }
    return true;
  }

  /** Gives the oldest part to `sink`; returns the sink's result. */
  deliver(sink: { data(chunk: Buffer): boolean }): boolean {
    const part = this.#parts.shift();
    if (part === undefined) return true;
    this.#count(-part.bytes.length);
    const taken = sink.data(part.bytes.subarray(0, part.length));
    if (part.pooled) release(part.bytes);
    return taken;
  }

  clear(): void {
    for (const { bytes, pooled } of this.#parts) if (pooled) release(bytes);
    this.#parts = [];
    this.#count(-this.#bytes);
  }

  #begin(left: number): Part | undefined {
    const pooled = left >= pooledBytesMin;
    const size = pooled ? pooledBytes : Math.max(left, partBytesMin);
    if (this.#bytes + size > waitingBytesMax || allBytes + size > allWaitingBytesMax) return undefined;
    const part = { bytes: pooled ? acquire() : Buffer.allocUnsafe(size), length: 0, pooled: pooled };
    this.#parts.push(part);
    this.#count(size);
    return part;
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    allBytes += bytes;
  }
}
