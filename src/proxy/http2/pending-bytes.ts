// Unsent bytes of a stream, kept together. Large parts lie in buffers from the pool: a body that waits at each step
// for a window or for the socket would otherwise leave a garbage buffer for each part, and the collector marks the
// whole heap for so many.
import { acquire, pooledBytes, release } from '../socket/buffer-pool.ts';

const none = Buffer.alloc(0);

/** Size below which a pooled buffer would hold more memory than it saves: many streams can wait. */
const pooledBytesMin = pooledBytes / 4;

export class PendingBytes {
  bytes: Buffer = none;
  length = 0;
  #pooled = false;

  append(bytes: Buffer, from: number, to: number): void {
    const length = this.length + to - from;
    if (length > this.bytes.length) this.#grow(length);
    bytes.copy(this.bytes, this.length, from, to);
    this.length = length;
  }

  /** Releases the buffer; no reader of `bytes` is left. */
  clear(): void {
    if (this.#pooled) release(this.bytes);
    this.#pooled = false;
    this.bytes = none;
    this.length = 0;
  }

  #grow(length: number): void {
    const former = this.bytes;
    const wasPooled = this.#pooled;
    this.#pooled = length >= pooledBytesMin && length <= pooledBytes;
    this.bytes = this.#pooled ? acquire() : Buffer.allocUnsafeSlow(Math.max(512, length * 2));
    former.copy(this.bytes, 0, 0, this.length);
    if (wasPooled) release(former);
  }
}
