// Handle socket: a connection directly on the system's handles, plain or under TLS. A `net.Socket` brings two
// streams, an emitter and a pass of the tick queue for each write, which cost more than everything a proxy does with
// a small request. It reads, ends and emits as a socket does, except that `end` is emitted within the read that found
// it.
import { getSystemErrorName } from 'node:util';
import type { SocketReceiver } from './byte-socket.ts';
import type { ProxiedPlaces, SocketPlace } from './proxy-header.ts';
import { beginRead, endRead } from './read-clock.ts';
import { SocketEvents } from './socket-events.ts';
import {
  type HandleOwner,
  type StreamHandle,
  type StreamRequest,
  shutdownRequest,
  streamState,
  type TcpHandle,
} from './stream-handle.ts';

export abstract class HandleSocket extends SocketEvents implements HandleOwner {
  receiver: SocketReceiver | undefined;
  closed = false;
  readableEnded = false;
  readsAfterReset = false;
  /** Bytes given to `write` and not taken by the kernel yet. */
  writableLength = 0;
  /** Handle for reads and writes; the connection itself where it is plain. */
  protected readonly stream: StreamHandle;
  /** True once nothing more is written. */
  protected ended = false;
  protected reading = false;
  #tcp: TcpHandle | undefined;
  #halfOpen: boolean;
  /** True once FIN has left behind all written bytes. */
  #finished = false;
  #destroyWhenFinished = false;
  /** Status of the write that found the connection reset; 0: none. */
  #resetStatus = 0;

  /** Takes ownership of the connection, which it will close. `halfOpen`: FIN is not answered automatically. */
  constructor(tcp: TcpHandle, stream: StreamHandle, halfOpen: boolean) {
    super();
    this.#tcp = tcp;
    this.stream = stream;
    this.#halfOpen = halfOpen;
    tcp.taker = this;
    stream.taker = this;
    stream.onread = onRead;
  }

  /** Undefined once it is closed. */
  get tcp(): TcpHandle | undefined {
    return this.#tcp;
  }

  get destroyed(): boolean {
    return this.#tcp === undefined;
  }

  get writable(): boolean {
    return this.#tcp !== undefined && !this.ended;
  }

  /** Address of the peer, or of the client that a trusted proxy has named. */
  get remoteAddress(): string | undefined {
    const tcp = this.#tcp;
    if (tcp?.proxied !== undefined) return tcp.proxied.source.address;
    const place: { address?: string } = {};
    return tcp?.getpeername(place) === 0 ? place.address : undefined;
  }

  /** Ends of the connection, or of the one that a trusted proxy has named; undefined once it is closed. */
  get places(): ProxiedPlaces | undefined {
    const tcp = this.#tcp;
    if (tcp === undefined || tcp.proxied !== undefined) return tcp?.proxied;
    const [peer, own]: { address?: string; port?: number }[] = [{}, {}];
    if (tcp.getpeername(peer ?? {}) !== 0 || tcp.getsockname(own ?? {}) !== 0) return undefined;
    return { source: placeOf(peer), destination: placeOf(own) };
  }

  end(): this {
    if (!this.writable) return this;
    this.ended = true;
    this.shutDown();
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
    if (this.#finished || this.#resetStatus !== 0) this.destroy();
    else this.#destroyWhenFinished = true;
    return this;
  }

  keepOpen(): this {
    this.#halfOpen = true;
    return this;
  }

  pause(): this {
    if (!this.reading) return this;
    this.reading = false;
    if (this.#tcp !== undefined) this.stream.readStop();
    return this;
  }

  resume(): this {
    if (this.reading || this.readableEnded || this.#tcp === undefined) return this;
    this.reading = true;
    const status = this.stream.readStart();
    if (status !== 0 && status !== streamState.alreadyReading) this.fail(status, 'read');
    return this;
  }

  setKeepAlive(on: boolean, afterMs: number): this {
    this.#tcp?.setKeepAlive(on, Math.floor(afterMs / 1_000));
    return this;
  }

  abstract onRead(count: number): void;

  abstract onWritten(status: number, length: number): void;

  onShutdown(status: number): void {
    if (this.#tcp === undefined) return;
    if (status < 0 && status !== streamState.notConnected) {
      this.fail(status, 'shutdown');
      return;
    }
    this.#finished = true;
    if (this.#destroyWhenFinished || this.readableEnded) this.destroy();
  }

  /** Sends FIN: all written bytes are in the kernel, or in its queue. */
  protected shutDown(): void {
    const request = shutdownRequest();
    request.owner = this;
    request.oncomplete = onShutdown;
    const status = this.stream.shutdown(request);
    // The shutdown is complete, or the peer has gone: the next read reports it.
    if (status === 1 || status === streamState.notConnected) this.onShutdown(0);
    else if (status !== 0) this.fail(status, 'shutdown');
  }

  /** Handles the peer's end. `whole`: it ended explicitly, and nothing is missing. */
  protected finishReading(whole = false): void {
    if (this.readableEnded) return;
    if (this.#resetStatus === streamState.reset && !whole) {
      this.fail(this.#resetStatus, 'write');
      return;
    }
    this.reading = false;
    this.readableEnded = true;
    this.emit('end');
    if (!this.#halfOpen) this.end();
    if (this.#finished || this.#resetStatus !== 0) this.destroy();
  }

  /**
   * Handles a failed write. On a connection that the peer has reset, the kernel keeps earlier bytes for reading: an
   * upstream may answer and close without having read the request's body.
   */
  protected failWrite(status: number): void {
    const isReset = status === streamState.reset || status === streamState.brokenPipe;
    if (!isReset || !this.readsAfterReset || this.readableEnded) this.fail(status, 'write');
    else if (this.#resetStatus === 0) {
      this.#resetStatus = status;
      this.ended = true;
    }
  }

  protected fail(status: number, call: string): void {
    const code = getSystemErrorName(status);
    this.destroy(Object.assign(new Error(`${call} ${code}`), { code, errno: status, syscall: call }));
  }

  /** Called when the kernel holds nothing more of the connection. */
  protected onClosed(): void {}

  #close(reset: boolean, error: NodeJS.ErrnoException | undefined): void {
    const tcp = this.#tcp;
    if (tcp === undefined) return;
    this.#tcp = undefined;
    this.stream.onread = onReadOfClosed;
    const closed = (): void => {
      this.closed = true;
      this.onClosed();
      this.emit('close');
    };
    // A connection that is being closed cannot be reset.
    if (reset && !this.ended) tcp.reset(closed);
    else tcp.close(closed);
    // The caller that caused it is still running.
    if (error !== undefined) process.nextTick(() => this.emit('error', error));
  }
}

const placeOf = ({ address = '', port = 0 }: { address?: string; port?: number } = {}): SocketPlace => ({
  address,
  port,
});

function onRead(this: StreamHandle): void {
  beginRead();
  this.taker?.onRead(streamState.lastRead);
  endRead();
}

function onReadOfClosed(): void {}

function onShutdown(this: StreamRequest, status: number): void {
  this.owner?.onShutdown(status);
}
