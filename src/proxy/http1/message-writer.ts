// Writes messages to one socket: heads and small chunks gather as text and leave in one write, large chunks go by way of
// a lent buffer (proxy.md, The forward fast path). Nothing given to it is needed after the call.
import { giveBack, lend } from '../socket/buffer-pool.ts';
import { type ByteSocket, drainedBytesMin } from '../socket/byte-socket.ts';
import type { BodyKind } from './framing.ts';

/** Text waiting in vain costs memory: so much of it leaves before a message ends. */
const textMax = 4 * drainedBytesMin;

export class MessageWriter {
  readonly #socket: ByteSocket;
  /** Latin-1, not written yet. */
  #text = '';
  #kind: BodyKind = 'none';
  /** Buffers of writes that the system has not taken yet. */
  #lent: Buffer[] = [];

  constructor(socket: ByteSocket) {
    this.#socket = socket;
  }

  /** Begins a message. The head is whole and says how its body is framed. */
  head(text: string, kind: BodyKind): void {
    this.#text += text;
    this.#kind = kind;
  }

  /** False when the socket has not taken what it was given before: its `drain` will come. */
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

  /** The other side takes less than it is given: nothing new should be begun. Everything gathered leaves first. */
  get congested(): boolean {
    if (this.#text.length + this.#socket.writableLength < drainedBytesMin) return false;
    this.flush();
    return !this.#hasRoom();
  }

  /** The system has not taken all that was written. */
  get unsent(): boolean {
    return this.#socket.writableLength > 0;
  }

  /** Everything gathered leaves now. To be called before waiting for anything. */
  flush(): void {
    if (this.#text === '') return;
    const text = this.#text;
    this.#text = '';
    this.#socket.write(text, 'latin1');
  }

  /** To be called on the socket's `drain`: all it was given has been taken. */
  onDrain(): void {
    if (this.#lent.length === 0 || this.#socket.writableLength > 0) return;
    for (const buffer of this.#lent) giveBack(buffer);
    this.#lent = [];
  }

  #hasRoom(): boolean {
    return this.#socket.writableLength < drainedBytesMin;
  }

  /** What waits and the chunk leave together, in one write if they fit. */
  #writeLarge(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      const buffer = lend();
      const start = buffer.write(this.#text, 'latin1');
      this.#text = '';
      const length = start + chunk.copy(buffer, start, at);
      at += length - start;
      this.#socket.write(buffer.subarray(0, length));
      if (this.#socket.writableLength === 0) giveBack(buffer);
      else this.#lent.push(buffer);
    }
  }
}
