// Writes messages to one socket: heads and small chunks gather as text and leave in one write, large chunks leave as
// they are (proxy.md, The forward fast path).
import type { Socket } from 'node:net';
import type { BodyKind } from './framing.ts';

/** Below this a chunk is copied behind what is waiting; above, a write of its own costs less than the copy. */
const copyBytesMax = 8 * 1024;

export class MessageWriter {
  readonly #socket: Socket;
  /** Latin-1, not written yet. */
  #text = '';
  #kind: BodyKind = 'none';

  constructor(socket: Socket) {
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
    if (chunk.length <= copyBytesMax) {
      this.#text += chunk.toString('latin1');
      if (this.#text.length > 4 * copyBytesMax) this.flush();
    } else if (this.#text === '') this.#socket.write(chunk);
    else {
      this.#socket.cork();
      this.flush();
      this.#socket.write(chunk);
      this.#socket.uncork();
    }
    if (chunked) this.#text += '\r\n';
    return this.#socket.writableLength < this.#socket.writableHighWaterMark;
  }

  /** Ends the message. `trailers` are whole field lines; they can only follow chunks. */
  end(trailers: string): void {
    if (this.#kind === 'chunked') this.#text += `0\r\n${trailers}\r\n`;
    this.#kind = 'none';
  }

  /** The other side takes less than it is given: nothing new should be begun. Everything gathered leaves first. */
  get congested(): boolean {
    if (this.#text.length + this.#socket.writableLength < this.#socket.writableHighWaterMark) return false;
    this.flush();
    return this.#socket.writableLength >= this.#socket.writableHighWaterMark;
  }

  /** Everything gathered leaves now. To be called before waiting for anything. */
  flush(): void {
    if (this.#text === '') return;
    const text = this.#text;
    this.#text = '';
    this.#socket.write(text, 'latin1');
  }
}
