// A plain connection, straight on the system's: a `net.Socket` brings two streams, an emitter and a turn of the tick
// queue for each write, which cost more than all that a proxy does with a small request. It reads, writes, ends and
// tells as a socket would, but for two things: `drain` follows only what the system did not take at once, and `end`
// is told within the read that found it.
import { getSystemErrorName } from 'node:util';
import { arrived, type ByteSocket, drainedBytesMin, type SocketEvent, type SocketReceiver } from './byte-socket.ts';
import type { Security } from './security.ts';
import {
  type HandleOwner,
  type StreamRequest,
  shutdownRequest,
  streamState,
  type TcpHandle,
  writeRequest,
} from './stream-handle.ts';

interface Subscription {
  readonly event: SocketEvent;
  readonly act: (error: NodeJS.ErrnoException) => void;
  readonly once: boolean;
}

export interface TcpSocketOptions {
  /** FIN of the other side is not answered by itself. */
  readonly halfOpen: boolean;
  /** The handle reads into `arrived` already. */
  readonly attached?: boolean;
}

/** Not used by any write that is under way. */
let spare: StreamRequest | undefined;

export class TcpSocket implements ByteSocket, HandleOwner {
  receiver: SocketReceiver | undefined;
  readonly security: Security | undefined = undefined;
  closed = false;
  readableEnded = false;
  writableLength = 0;
  readonly #halfOpen: boolean;
  #handle: TcpHandle | undefined;
  /** Replaced, never changed, when one goes: whoever is being told goes on with what was there. */
  #subscriptions: Subscription[] = [];
  #reading = false;
  /** Nothing more is written. */
  #ended = false;
  /** FIN has left behind everything written. */
  #finished = false;
  #destroyWhenFinished = false;

  /** Takes over the connection, and with it the duty to close it. It reads from the first `resume` on. */
  constructor(handle: TcpHandle, { halfOpen, attached = false }: TcpSocketOptions) {
    this.#handle = handle;
    this.#halfOpen = halfOpen;
    if (!attached) handle.useUserBuffer(arrived);
    handle.owner = this;
    handle.onread = onRead;
  }

  get destroyed(): boolean {
    return this.#handle === undefined;
  }

  get writable(): boolean {
    return this.#handle !== undefined && !this.#ended;
  }

  get remoteAddress(): string | undefined {
    const place: { address?: string } = {};
    return this.#handle?.getpeername(place) === 0 ? place.address : undefined;
  }

  /** False: `drain` follows. What is written after the end is dropped. */
  write(data: string | Uint8Array, _encoding?: 'latin1'): boolean {
    const handle = this.#handle;
    if (handle === undefined || this.#ended) return true;
    spare ??= writeRequest();
    const request = spare;
    const status =
      typeof data === 'string' ? handle.writeLatin1String(request, data) : handle.writeBuffer(request, data);
    if (status === 0 && !streamState.lastWriteIsAsync) return true;
    spare = undefined;
    if (status !== 0) {
      this.#fail(status, 'write');
      return true;
    }
    request.owner = this;
    request.data = data;
    request.oncomplete = onWritten;
    this.writableLength += data.length;
    return this.writableLength < drainedBytesMin;
  }

  end(): this {
    const handle = this.#handle;
    if (handle === undefined || this.#ended) return this;
    this.#ended = true;
    const request = shutdownRequest();
    request.owner = this;
    request.oncomplete = onShutdown;
    const status = handle.shutdown(request);
    // Done at once, or the other side has gone: the next read tells.
    if (status === 1 || status === streamState.notConnected) this.onShutdown(0);
    else if (status !== 0) this.#fail(status, 'shutdown');
    return this;
  }

  destroy(error?: NodeJS.ErrnoException): this {
    this.#close(false, error);
    return this;
  }

  resetAndDestroy(): this {
    this.#close(true, undefined);
    return this;
  }

  destroySoon(): this {
    this.end();
    if (this.#finished) this.destroy();
    else this.#destroyWhenFinished = true;
    return this;
  }

  pause(): this {
    if (!this.#reading) return this;
    this.#reading = false;
    this.#handle?.readStop();
    return this;
  }

  resume(): this {
    const handle = this.#handle;
    if (this.#reading || this.readableEnded || handle === undefined) return this;
    this.#reading = true;
    const status = handle.readStart();
    if (status !== 0) this.#fail(status, 'read');
    return this;
  }

  setKeepAlive(on: boolean, afterMs: number): this {
    this.#handle?.setKeepAlive(on, Math.floor(afterMs / 1_000));
    return this;
  }

  on(event: SocketEvent, act: (error: NodeJS.ErrnoException) => void): this {
    this.#subscriptions.push({ event, act, once: false });
    return this;
  }

  once(event: SocketEvent, act: (error: NodeJS.ErrnoException) => void): this {
    this.#subscriptions.push({ event, act, once: true });
    return this;
  }

  off(event: SocketEvent, act: (error: NodeJS.ErrnoException) => void): this {
    this.#subscriptions = this.#subscriptions.filter((each) => each.event !== event || each.act !== act);
    return this;
  }

  removeAllListeners(event: SocketEvent): this {
    this.#subscriptions = this.#subscriptions.filter((each) => each.event !== event);
    return this;
  }

  /** What came lies in `arrived`. */
  onRead(count: number): void {
    if (count > 0) this.receiver?.onBytes(arrived, count);
    else if (count === streamState.endOfFile) this.#onEnd();
    else if (count < 0) this.#fail(count, 'read');
  }

  onWritten(status: number, length: number): void {
    this.writableLength -= length;
    if (this.#handle === undefined) return;
    if (status < 0) this.#fail(status, 'write');
    else if (this.writableLength === 0) this.#tell('drain');
  }

  onShutdown(status: number): void {
    if (this.#handle === undefined) return;
    if (status < 0 && status !== streamState.notConnected) {
      this.#fail(status, 'shutdown');
      return;
    }
    this.#finished = true;
    if (this.#destroyWhenFinished || this.readableEnded) this.destroy();
  }

  #onEnd(): void {
    this.#reading = false;
    this.readableEnded = true;
    this.#tell('end');
    if (!this.#halfOpen) this.end();
    if (this.#finished) this.destroy();
  }

  #fail(status: number, call: string): void {
    const code = getSystemErrorName(status);
    this.destroy(Object.assign(new Error(`${call} ${code}`), { code, errno: status, syscall: call }));
  }

  #close(reset: boolean, error: NodeJS.ErrnoException | undefined): void {
    const handle = this.#handle;
    if (handle === undefined) return;
    this.#handle = undefined;
    handle.onread = onReadOfClosed;
    const closed = (): void => {
      this.closed = true;
      this.#tell('close');
    };
    // What is being ended already cannot be reset.
    if (reset && !this.#ended) handle.reset(closed);
    else handle.close(closed);
    // Whoever caused it is still at work.
    if (error !== undefined) process.nextTick(() => this.#tell('error', error));
  }

  #tell(event: SocketEvent, error?: NodeJS.ErrnoException): void {
    const all = this.#subscriptions;
    const { length } = all;
    for (let i = 0; i < length; i++) {
      const each = all[i];
      if (each?.event !== event) continue;
      if (each.once) this.#subscriptions = this.#subscriptions.filter((other) => other !== each);
      each.act(error as NodeJS.ErrnoException);
    }
  }
}

function onRead(this: TcpHandle): void {
  this.owner?.onRead(streamState.lastRead);
}

function onReadOfClosed(): void {}

function onWritten(this: StreamRequest, status: number): void {
  const length = this.data?.length ?? 0;
  this.data = undefined;
  this.owner?.onWritten(status, length);
}

function onShutdown(this: StreamRequest, status: number): void {
  this.owner?.onShutdown(status);
}
