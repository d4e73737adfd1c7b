// Handles over Node's documented sockets, with the interface of the internal ones: plan B, should a version of Node change
// those (`proxy.sockets: node`). A connection costs two streams more, a read one copy, and a write that fails ends the
// connection before earlier bytes of the peer are read.
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { sharedReadBuffer } from './byte-socket.ts';
import { descriptorOf } from './descriptors.ts';
import type { ProxiedPlaces } from './proxy-header.ts';
import {
  type HandleOwner,
  type StreamHandle,
  type StreamRequest,
  streamState,
  type TcpHandle,
} from './stream-handle.ts';

/** Error number of the system, negative; a connection reset where there is none. */
const statusOf = (error: NodeJS.ErrnoException | null | undefined): number =>
  error ? (error.errno ?? streamState.reset) : 0;

/** Reads and writes of a socket, plain or under TLS. */
export class NodeStream implements StreamHandle {
  taker?: HandleOwner;
  onread: (this: StreamHandle) => void = () => {};
  #socket: Socket | TLSSocket | undefined;
  #reading = false;

  /** Undefined before `attach`. */
  protected get socket(): Socket | TLSSocket | undefined {
    return this.#socket;
  }

  protected attach(socket: Socket | TLSSocket): void {
    this.#socket = socket;
    socket
      .on('data', (bytes: Buffer) => this.#deliver(bytes))
      .on('end', () => this.#report(streamState.endOfFile))
      .on('error', (error: NodeJS.ErrnoException) => this.onError(error));
    if (!this.#reading) socket.pause();
  }

  /** Reads always go to the shared read buffer. */
  useUserBuffer(_bytes: Uint8Array): void {}

  readStart(): number {
    this.#reading = true;
    this.#socket?.resume();
    return this.#socket?.destroyed === true ? streamState.notConnected : 0;
  }

  readStop(): number {
    this.#reading = false;
    this.#socket?.pause();
    return 0;
  }

  writeLatin1String(request: StreamRequest, text: string): number {
    return this.#write(request, Buffer.from(text, 'latin1'));
  }

  /** Writes a copy: a socket may keep the bytes longer than their owner does. */
  writeBuffer(request: StreamRequest, bytes: Uint8Array): number {
    return this.#write(request, Buffer.from(bytes));
  }

  shutdown(request: StreamRequest): number {
    if (this.#socket === undefined || this.#socket.destroyed) return streamState.notConnected;
    this.#socket.end(() => request.oncomplete(0));
    return 0;
  }

  protected onError(error: NodeJS.ErrnoException): void {
    this.#report(statusOf(error));
  }

  /** True where a write that the kernel has taken whole is complete when the call returns. */
  protected get completesAtOnce(): boolean {
    return false;
  }

  #write(request: StreamRequest, bytes: Buffer): number {
    const socket = this.#socket;
    if (socket === undefined || !socket.writable) return streamState.brokenPipe;
    const write = { isAsync: true };
    socket.write(bytes, (error) => {
      if (write.isAsync) request.oncomplete?.(statusOf(error));
    });
    write.isAsync = !this.completesAtOnce || socket.writableLength > 0;
    streamState.lastWriteIsAsync = write.isAsync;
    return 0;
  }

  #deliver(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += sharedReadBuffer.length) {
      if (!this.#reading) {
        this.#socket?.unshift(bytes.subarray(at));
        return;
      }
      this.#report(bytes.copy(sharedReadBuffer, 0, at));
    }
  }

  #report(count: number): void {
    streamState.lastRead = count;
    this.onread();
  }
}

/** Connection of a `net.Socket`, which belongs to the handle from here on. */
export class NodeHandle extends NodeStream implements TcpHandle {
  proxied?: ProxiedPlaces | undefined;
  readonly #tcp: Socket;

  constructor(socket: Socket) {
    super();
    this.#tcp = socket;
    this.attach(socket);
  }

  protected override get completesAtOnce(): boolean {
    return true;
  }

  setNoDelay(on: boolean): number {
    this.#tcp.setNoDelay(on);
    return 0;
  }

  setKeepAlive(on: boolean, afterSeconds: number): number {
    this.#tcp.setKeepAlive(on, afterSeconds * 1_000);
    return 0;
  }

  getpeername(out: { address?: string; port?: number }): number {
    const { remoteAddress: address, remotePort: port } = this.#tcp;
    return this.#named(out, address, port);
  }

  getsockname(out: { address?: string; port?: number }): number {
    const { localAddress: address, localPort: port } = this.#tcp;
    return this.#named(out, address, port);
  }

  reset(done: () => void): number {
    this.#ended(done);
    this.#tcp.resetAndDestroy();
    return 0;
  }

  close(done: () => void = () => {}): void {
    this.#ended(done);
    this.#tcp.destroy();
  }

  get bytesRead(): number {
    return this.#tcp.bytesRead;
  }

  get fd(): number {
    return descriptorOf(this.#tcp);
  }

  #named(out: { address?: string; port?: number }, address: string | undefined, port: number | undefined): number {
    if (address === undefined || port === undefined) return streamState.notConnected;
    Object.assign(out, { address, port });
    return 0;
  }

  #ended(done: () => void): void {
    if (this.#tcp.closed) setImmediate(done);
    else this.#tcp.once('close', done);
  }
}
