// What a copied body has waiting for its connection, within bounds for one copy and for all of a worker. Large parts lie
// in lent buffers: a connection that takes nothing would otherwise leave a new buffer behind for each part, and the
// collector works for the copies at the cost of the requests.
import { giveBack, lend, lentBytes } from '../../socket/buffer-pool.ts';

/** What one copy may have waiting. */
export const waitingBytesMax = 1 << 20;
/** And all copies of a worker together. */
const allWaitingBytesMax = 64 << 20;
/** Below this a lent buffer would keep more memory than it saves. */
const lentBytesMin = lentBytes / 4;
/** Bytes that come one by one share a part. */
const partBytesMin = 2_048;

interface Part {
  readonly bytes: Buffer;
  length: number;
  readonly lent: boolean;
}

/** Of this worker. */
let allBytes = 0;

/** Memory of all that copies of this worker have waiting, bytes. */
export const allWaitingBytes = (): number => allBytes;

export class WaitingCopy {
  #parts: Part[] = [];
  #bytes = 0;

  /** Bytes of memory. */
  get bytes(): number {
    return this.#bytes;
  }

  get empty(): boolean {
    return this.#parts.length === 0;
  }

  /** False when it does not fit: the copy cannot become whole any more. */
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

  /** The oldest part goes to `sink`; what it says. */
  give(sink: { data(chunk: Buffer): boolean }): boolean {
    const part = this.#parts.shift();
    if (part === undefined) return true;
    this.#count(-part.bytes.length);
    const taken = sink.data(part.bytes.subarray(0, part.length));
    if (part.lent) giveBack(part.bytes);
    return taken;
  }

  clear(): void {
    for (const { bytes, lent } of this.#parts) if (lent) giveBack(bytes);
    this.#parts = [];
    this.#count(-this.#bytes);
  }

  #begin(left: number): Part | undefined {
    const lent = left >= lentBytesMin;
    const size = lent ? lentBytes : Math.max(left, partBytesMin);
    if (this.#bytes + size > waitingBytesMax || allBytes + size > allWaitingBytesMax) return undefined;
    const part = { bytes: lent ? lend() : Buffer.allocUnsafe(size), length: 0, lent };
    this.#parts.push(part);
    this.#count(size);
    return part;
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    allBytes += bytes;
  }
}
