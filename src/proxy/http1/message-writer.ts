// Message writer of one socket: heads and small chunks gather as text and leave in one write, large chunks go through
// a buffer from the pool (proxy.md, The forward fast path). Arguments are copied and not needed after the call.
import { acquire, release } from '../socket/buffer-pool.ts';
import { type ByteSocket, drainedBytesMin } from '../socket/byte-socket.ts';
import type { BodyKind } from './framing.ts';

/** Length of gathered text above which it leaves before the message ends: waiting text costs memory. */
const textMax = 4 * drainedBytesMin;

export class MessageWriter {
  readonly #socket: ByteSocket;
  /** Text not written yet, Latin-1. */
  #text = '';
  #kind: BodyKind = 'none';
  /** Buffers of writes that the kernel has not taken yet. */
  #pooled: Buffer[] = [];

  constructor(socket: ByteSocket) {
    this.#socket = socket;
  }

  /** Begins a message. The head is whole and declares the framing of its body. */
  head(text: string, kind: BodyKind): void {
    this.#text += text;
    this.#kind = kind;
  }

  /** Writes a chunk. Returns false when the socket has not taken earlier bytes: its `drain` follows. */
  data(chunk: Buffer): boolean {
    const chunked = this.#kind === 'chunked';
    if (chunked) this.#text += `${chunk.length.toString(16)}\r\n`;
    if (chunk.length < drainedBytesMin) {
      this.#text += chunk.toString('latin1');
      if (this.#text.length > textMax) this.flush();
    } else this.#writeLarge(chunk);
    if (chunked) this.#text += '\r\n';
    return this.#hasRoom();
  }

  /** Ends the message. `trailers` are whole field lines; they can only follow chunks. */
  end(trailers: string): void {
    if (this.#kind === 'chunked') this.#text += `0\r\n${trailers}\r\n`;
    this.#kind = 'none';
  }

  /** True when the peer reads less than is written: nothing new should begin. Gathered text leaves first. */
  get congested(): boolean {
    if (this.#text.length + this.#socket.writableLength < drainedBytesMin) return false;
    this.flush();
    return !this.#hasRoom();
  }

  /** True while the kernel has not taken all written bytes. */
  get unsent(): boolean {
    return this.#socket.writableLength > 0;
  }

  /** Writes all gathered text now. The caller flushes before it waits for anything. */
  flush(): void {
    if (this.#text === '') return;
    const text = this.#text;
    this.#text = '';
    this.#socket.write(text, 'latin1');
  }

  /** Releases the buffers; the owner calls it on the socket's `drain`. */
  onDrain(): void {
    if (this.#pooled.length === 0 || this.#socket.writableLength > 0) return;
    for (const buffer of this.#pooled) release(buffer);
    this.#pooled = [];
  }

  #hasRoom(): boolean {
    return this.#socket.writableLength < drainedBytesMin;
  }

  /** Writes gathered text and the chunk together, in one write if they fit. */
  #writeLarge(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      const buffer = acquire();
      const start = buffer.write(this.#text, 'latin1');
      this.#text = '';
      const length = start + chunk.copy(buffer, start, at);
      at += length - start;
      this.#socket.write(buffer.subarray(0, length));
      if (this.#socket.writableLength === 0) release(buffer);
      else this.#pooled.push(buffer);
    }
  }
}
