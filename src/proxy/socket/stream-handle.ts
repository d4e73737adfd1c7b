// What Node's own sockets are made of, below what it documents: the handle of a connection and the requests it takes. It
// is the place, with accepting.ts and tls/tls-handle.ts, that relies on how Node is built; unit tests hold that it
// still is.

/** What bytes are read from and written to. */
export interface StreamHandle {
  /** What is read goes there from now on, always from its beginning. */
  useUserBuffer(bytes: Uint8Array): void;
  readStart(): number;
  readStop(): number;
  /** Called after each read; `streamState` tells of it. */
  onread: (this: StreamHandle) => void;
  /** 0, or a negative error. The request is used only when `lastWriteIsAsync` then. */
  writeLatin1String(request: StreamRequest, text: string): number;
  writeBuffer(request: StreamRequest, bytes: Uint8Array): number;
  /** 1: done at once. */
  shutdown(request: StreamRequest): number;
  /** Ours: who has taken the connection over. Node gives handles an `owner` of its own, by an accessor that costs more. */
  taker?: HandleOwner;
}

/** A connection of the system's, before or without a socket of Node's. */
export interface TcpHandle extends StreamHandle {
  setNoDelay(on: boolean): number;
  setKeepAlive(on: boolean, afterSeconds: number): number;
  getpeername(out: { address?: string }): number;
  /** Ends it so that the other side notices (RST). */
  reset(done: () => void): number;
  close(done?: () => void): void;
  readonly bytesRead: number;
  /** Number of its descriptor; negative where there is none. */
  readonly fd: number;
}

export interface HandleOwner {
  /** So many bytes have come, or a negative error. */
  onRead(count: number): void;
  /** A write of so many bytes that had to wait is done; `status` is 0 or a negative error. */
  onWritten(status: number, length: number): void;
  onShutdown(status: number): void;
}

export interface StreamRequest {
  oncomplete: (this: StreamRequest, status: number) => void;
  /** Ours: whose request it is, and what is not to be collected before it is done. */
  owner?: HandleOwner;
  data?: string | Uint8Array | undefined;
}

interface StreamBinding {
  readonly WriteWrap: new () => StreamRequest;
  readonly ShutdownWrap: new () => StreamRequest;
  readonly kReadBytesOrError: number;
  readonly kLastWriteWasAsync: number;
  /** Of the thread: numbers that the call or callback before has left. */
  readonly streamBaseState: Int32Array;
}

const binding: StreamBinding = Reflect.apply(Reflect.get(process, 'binding'), process, ['stream_wrap']);
const errors: {
  readonly UV_EOF: number;
  readonly UV_ENOTCONN: number;
  readonly UV_ECONNRESET: number;
  readonly UV_EPIPE: number;
} = Reflect.apply(Reflect.get(process, 'binding'), process, ['uv']);
const { streamBaseState: state, kReadBytesOrError, kLastWriteWasAsync, WriteWrap, ShutdownWrap } = binding;
if (state?.[kReadBytesOrError] === undefined || state[kLastWriteWasAsync] === undefined)
  throw new Error('this version of Node.js is not supported');

export const streamState = {
  endOfFile: errors.UV_EOF,
  notConnected: errors.UV_ENOTCONN,
  /** The other side has reset the connection. */
  reset: errors.UV_ECONNRESET,
  /** The other side has reset the connection behind its FIN. */
  brokenPipe: errors.UV_EPIPE,
  /** Bytes that the read brought, or a negative error. */
  get lastRead(): number {
    return state[kReadBytesOrError] ?? 0;
  },
  /** The system did not take all of the last write at once. */
  get lastWriteIsAsync(): boolean {
    return state[kLastWriteWasAsync] !== 0;
  },
};

/** For `oncomplete` of a request that has `owner` and `data`. */
export function onWriteDone(this: StreamRequest, status: number): void {
  const length = this.data?.length ?? 0;
  this.data = undefined;
  this.owner?.onWritten(status, length);
}

export const writeRequest = (): StreamRequest => new WriteWrap();
export const shutdownRequest = (): StreamRequest => new ShutdownWrap();
