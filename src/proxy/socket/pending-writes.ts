// Pending writes of a connection while the kernel takes nothing. Small pieces share memory, so that single bytes cost
// no more than one large piece; large ones stay where they are.

import { ReceiveBuffer } from '../../util/receive-buffer.ts';
import { drainedBytesMin } from './byte-socket.ts';

/** Bytes of one write of gathered pieces, about. */
const gatheredBytesMax = 64 * 1024;

export class PendingWrites {
  /** In order; the last one may still grow. */
  readonly #parts: (Uint8Array | ReceiveBuffer)[] = [];

  get empty(): boolean {
    return this.#parts.length === 0;
  }

  /** Memory of small pieces, and number of writes. */
  get held(): { readonly bytes: number; readonly parts: number } {
    const gathered = this.#parts.filter((part) => part instanceof ReceiveBuffer);
    return { bytes: gathered.reduce((sum, { bytes }) => sum + bytes.length, 0), parts: this.#parts.length };
  }

  /** Adds a write. Text is Latin-1. Bytes from `drainedBytesMin` on must stay unchanged until they are written. */
  push(data: string | Uint8Array): void {
    if (typeof data === 'string') this.#gathering().appendText(data);
    else if (data.length >= drainedBytesMin) this.#parts.push(data);
    else this.#gathering().append(data, 0, data.length);
  }

  /** Removes and returns the next write; undefined: none is pending. */
  shift(): Uint8Array | undefined {
    const part = this.#parts.shift();
    return part instanceof ReceiveBuffer ? part.content : part;
  }

  clear(): void {
    this.#parts.length = 0;
  }

  #gathering(): ReceiveBuffer {
    const last = this.#parts.at(-1);
    if (last instanceof ReceiveBuffer && last.length < gatheredBytesMax) return last;
    const made = new ReceiveBuffer();
    this.#parts.push(made);
    return made;
  }
}
