// A plain connection. `drain` follows only what the system did not take at once.

import { arrived, type ByteSocket, drainedBytesMin } from './byte-socket.ts';
import { HandleSocket } from './handle-socket.ts';
import type { Security } from './security.ts';
import { onWriteDone, type StreamRequest, streamState, type TcpHandle, writeRequest } from './stream-handle.ts';
import { flushLater } from './turn-end.ts';

export interface TcpSocketOptions {
  /** FIN of the other side is not answered by itself. */
  readonly halfOpen: boolean;
  /** The handle reads into `arrived` already. */
  readonly attached?: boolean;
}

/** Not used by any write that is under way. */
let spare: StreamRequest | undefined;

export class TcpSocket extends HandleSocket implements ByteSocket {
  readonly security: Security | undefined = undefined;
  readonly truncated = false;
  /** Latin-1; leaves at the end of the turn. */
  #text = '';

  /** Takes over the connection, and with it the duty to close it. It reads from the first `resume` on. */
  constructor(handle: TcpHandle, { halfOpen, attached = false }: TcpSocketOptions) {
    super(handle, handle, halfOpen);
    if (!attached) handle.useUserBuffer(arrived);
  }

  /**
   * False: `drain` follows. What is written after the end is dropped. Text leaves at the end of the turn, in one write and
   * along with that of other connections, or as soon as there is much of it; bytes at once, behind it.
   */
  write(data: string | Uint8Array, _encoding?: 'latin1'): boolean {
    if (!this.writable) return true;
    if (typeof data !== 'string') {
      if (this.#text !== '') this.flush();
      return this.#write(data);
    }
    if (this.#text === '') flushLater(this);
    this.#text += data;
    if (this.#text.length < drainedBytesMin) return this.writableLength < drainedBytesMin;
    this.flush();
    return this.writableLength < drainedBytesMin;
  }

  /** What was written is with the system, or in its queue, when this returns. */
  flush(): void {
    const text = this.#text;
    if (text === '') return;
    this.#text = '';
    if (!this.destroyed) this.#write(text);
  }

  override end(): this {
    this.flush();
    return super.end();
  }

  override destroy(error?: NodeJS.ErrnoException): this {
    // What failed takes nothing more, and is told by its own error.
    if (error === undefined) this.flush();
    else this.#text = '';
    return super.destroy(error);
  }

  /** What came lies in `arrived`. */
  override onRead(count: number): void {
    if (count > 0) this.receiver?.onBytes(arrived, count);
    else if (count === streamState.endOfFile) this.finishReading();
    else if (count < 0) this.fail(count, 'read');
  }

  override onWritten(status: number, length: number): void {
    this.writableLength -= length;
    if (this.destroyed) return;
    if (status < 0) this.failWrite(status);
    else if (this.writableLength === 0) this.tell('drain');
  }

  #write(data: string | Uint8Array): boolean {
    const { stream } = this;
    spare ??= writeRequest();
    const request = spare;
    const status =
      typeof data === 'string' ? stream.writeLatin1String(request, data) : stream.writeBuffer(request, data);
    if (status === 0 && !streamState.lastWriteIsAsync) return true;
    spare = undefined;
    if (status !== 0) {
      this.failWrite(status);
      return true;
    }
    request.owner = this;
    request.data = data;
    request.oncomplete = onWriteDone;
    this.writableLength += data.length;
    this.tell('blocked');
    return this.writableLength < drainedBytesMin;
  }
}
