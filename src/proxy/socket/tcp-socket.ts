// Plain TCP connection. `drain` follows only writes that the kernel did not take at once. One write is pending in the
// kernel at a time; later ones gather behind it.

import { type ByteSocket, drainedBytesMin, sharedReadBuffer } from './byte-socket.ts';
import { flushAtEndOfTick } from './end-of-tick.ts';
import { HandleSocket } from './handle-socket.ts';
import { PendingWrites } from './pending-writes.ts';
import type { Security } from './security.ts';
import { onWriteDone, type StreamRequest, streamState, type TcpHandle, writeRequest } from './stream-handle.ts';

export interface TcpSocketOptions {
  /** True when the peer's FIN is not answered automatically. */
  readonly halfOpen: boolean;
  /** True when the handle reads into the shared read buffer already. */
  readonly attached?: boolean;
}

/** Request that no pending write uses. */
let spare: StreamRequest | undefined;

export class TcpSocket extends HandleSocket implements ByteSocket {
  readonly security: Security | undefined = undefined;
  readonly truncated = false;
  /** Latin-1; leaves at the end of the tick. */
  #text = '';
  /** Writes behind the one that the kernel holds; undefined: none. */
  #pending: PendingWrites | undefined;
  /** Writes that the kernel holds. */
  #inKernel = 0;
  /** True once a write has failed. */
  #hasLost = false;

  /** Takes ownership of the connection, which it will close. It reads from the first `resume` on. */
  constructor(handle: TcpHandle, { halfOpen, attached = false }: TcpSocketOptions) {
    super(handle, handle, halfOpen);
    if (!attached) handle.useUserBuffer(sharedReadBuffer);
  }

  /**
   * Writes. Returns false when `drain` follows. Data after the end is dropped. Text leaves at the end of the tick, in
   * one write and together with that of other connections, or as soon as there is much of it; bytes leave at once,
   * behind it.
   */
  write(data: string | Uint8Array, _encoding?: 'latin1'): boolean {
    if (!this.writable) return true;
    if (typeof data !== 'string') {
      if (this.#text !== '') this.flush();
      return this.#write(data);
    }
    if (this.#text === '') flushAtEndOfTick(this);
    this.#text += data;
    if (this.#text.length < drainedBytesMin) return this.writableLength < drainedBytesMin;
    this.flush();
    return this.writableLength < drainedBytesMin;
  }

  /**
   * Writes waiting text: it is in the kernel when this returns, or behind earlier bytes that the kernel has not
   * taken.
   */
  flush(): void {
    const text = this.#text;
    if (text === '') return;
    this.#text = '';
    if (!this.destroyed) this.#write(text);
  }

  /** Memory and number of the writes behind one that the kernel has not taken. */
  get held(): PendingWrites['held'] {
    return this.#pending?.held ?? { bytes: 0, parts: 0 };
  }

  override end(): this {
    this.flush();
    // FIN goes behind the bytes in the kernel: nothing waits here any more.
    while (this.#pending?.empty === false && !this.destroyed) this.#writeNext();
    return super.end();
  }

  override destroy(error?: NodeJS.ErrnoException): this {
    // A failed connection takes nothing more; its own error reports it.
    if (error === undefined) this.flush();
    else this.#text = '';
    return super.destroy(error);
  }

  /** Handles bytes in the shared read buffer. */
  override onRead(count: number): void {
    if (count > 0) this.receiver?.onBytes(sharedReadBuffer, count);
    else if (count === streamState.endOfFile) this.finishReading();
    else if (count < 0) this.fail(count, 'read');
  }

  override onWritten(status: number, length: number): void {
    this.writableLength -= length;
    this.#inKernel--;
    if (this.destroyed) return;
    if (status < 0) this.#loseWrites(status);
    while (this.#inKernel === 0 && this.#pending?.empty === false && !this.destroyed) this.#writeNext();
    if (this.writableLength === 0 && !this.#hasLost && !this.destroyed) this.emit('drain');
  }

  protected override onClosed(): void {
    this.#pending = undefined;
  }

  #write(data: string | Uint8Array): boolean {
    if (this.#inKernel === 0) return this.#submit(data);
    this.#pending ??= new PendingWrites();
    this.#pending.push(data);
    this.writableLength += data.length;
    return this.writableLength < drainedBytesMin;
  }

  /** Drops pending writes and refuses later ones. */
  #loseWrites(status: number): void {
    this.#hasLost = true;
    this.#pending?.clear();
    this.failWrite(status);
  }

  #writeNext(): void {
    const next = this.#pending?.shift();
    if (next === undefined) return;
    this.writableLength -= next.length;
    this.#submit(next);
  }

  #submit(data: string | Uint8Array): boolean {
    const { stream } = this;
    spare ??= writeRequest();
    const request = spare;
    const status =
      typeof data === 'string' ? stream.writeLatin1String(request, data) : stream.writeBuffer(request, data);
    if (status === 0 && !streamState.lastWriteIsAsync) return true;
    spare = undefined;
    if (status !== 0) {
      this.#loseWrites(status);
      return true;
    }
    request.owner = this;
    request.data = data;
    request.oncomplete = onWriteDone;
    this.#inKernel++;
    this.writableLength += data.length;
    this.emit('blocked');
    return this.writableLength < drainedBytesMin;
  }
}
