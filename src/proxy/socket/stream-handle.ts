// Stream handle: the internal handle of Node's sockets, below the documented API, and its requests. With accepting.ts
// and tls/tls-handle.ts, the only code that relies on Node's internals; unit tests check that they still hold.
import { getSystemErrorMap } from 'node:util';
import { bindingOf } from './binding.ts';
import type { ProxiedPlaces } from './proxy-header.ts';

/** Handle for reads and writes. */
export interface StreamHandle {
  /** Makes reads go to that buffer, always from its beginning. */
  useUserBuffer(bytes: Uint8Array): void;
  readStart(): number;
  readStop(): number;
  /** Called after each read; `streamState` holds its result. */
  onread: (this: StreamHandle) => void;
  /** Returns 0, or a negative error. The request is used only when `lastWriteIsAsync` then. */
  writeLatin1String(request: StreamRequest, text: string): number;
  writeBuffer(request: StreamRequest, bytes: Uint8Array): number;
  /** Returns 1 when it is done at once. */
  shutdown(request: StreamRequest): number;
  /**
   * Owner of the connection, set by Sluice. Node gives handles an `owner` of its own, by an accessor that costs more.
   */
  taker?: HandleOwner;
}

/** Handle of a TCP connection, without or before a socket of Node's. */
export interface TcpHandle extends StreamHandle {
  setNoDelay(on: boolean): number;
  setKeepAlive(on: boolean, afterSeconds: number): number;
  getpeername(out: { address?: string; port?: number }): number;
  getsockname(out: { address?: string; port?: number }): number;
  /** Ends the connection so that the peer notices (RST). */
  reset(done: () => void): number;
  close(done?: () => void): void;
  readonly bytesRead: number;
  /** Number of its descriptor; negative where there is none. */
  readonly fd: number;
  /** Ends of the connection that a trusted proxy has named; set by Sluice. */
  proxied?: ProxiedPlaces | undefined;
  /** True: the connection began with a PROXY head; set by Sluice. */
  hasProxyHeader?: boolean;
}

export interface HandleOwner {
  /** Called with the number of bytes read, or a negative error. */
  onRead(count: number): void;
  /** Called when a pending write of so many bytes is complete; `status` is 0 or a negative error. */
  onWritten(status: number, length: number): void;
  onShutdown(status: number): void;
}

export interface StreamRequest {
  oncomplete: (this: StreamRequest, status: number) => void;
  /** Owner of the request, and data that must not be collected before it is complete; set by Sluice. */
  owner?: HandleOwner;
  data?: string | Uint8Array | undefined;
}

interface StreamBinding {
  readonly WriteWrap: new () => StreamRequest;
  readonly ShutdownWrap: new () => StreamRequest;
  readonly kReadBytesOrError: number;
  readonly kLastWriteWasAsync: number;
  /** Numbers that the last call or callback of the thread has left. */
  readonly streamBaseState: Int32Array;
}

const { binding, problem } = bindingOf<StreamBinding>('stream_wrap', (found) => {
  const { streamBaseState: numbers, kReadBytesOrError: read, kLastWriteWasAsync: wrote } = found;
  const makes = typeof found.WriteWrap === 'function' && typeof found.ShutdownWrap === 'function';
  return makes && numbers?.[read] !== undefined && numbers[wrote] !== undefined;
});

/** Reason why the handles cannot be used; undefined: they are as expected. */
export const streamProblem = problem;

const {
  streamBaseState: state,
  kReadBytesOrError,
  kLastWriteWasAsync,
} = binding ?? {
  streamBaseState: new Int32Array(2),
  kReadBytesOrError: 0,
  kLastWriteWasAsync: 1,
};

const numberOf = new Map([...getSystemErrorMap()].map(([errno, [name]]) => [name, errno]));
const errorNumber = (name: string): number => numberOf.get(name) ?? -1;

export const streamState = {
  endOfFile: errorNumber('EOF'),
  notConnected: errorNumber('ENOTCONN'),
  /** The peer has reset the connection. */
  reset: errorNumber('ECONNRESET'),
  /** The peer has reset the connection behind its FIN. */
  brokenPipe: errorNumber('EPIPE'),
  /** The handle is being read already. */
  alreadyReading: errorNumber('EALREADY'),
  /** Bytes of the last read, or a negative error. */
  get lastRead(): number {
    return state[kReadBytesOrError] ?? 0;
  },
  set lastRead(count: number) {
    state[kReadBytesOrError] = count;
  },
  /** True when the kernel did not take all of the last write at once. */
  get lastWriteIsAsync(): boolean {
    return state[kLastWriteWasAsync] !== 0;
  },
  set lastWriteIsAsync(isAsync: boolean) {
    state[kLastWriteWasAsync] = isAsync ? 1 : 0;
  },
};

/** Callback for `oncomplete` of a request that has `owner` and `data`. */
export function onWriteDone(this: StreamRequest, status: number): void {
  const length = this.data?.length ?? 0;
  this.data = undefined;
  this.owner?.onWritten(status, length);
}

/** Request of a handle over Node's sockets, where there is no other. */
class PlainRequest implements StreamRequest {
  oncomplete = (): void => {};
}

const { WriteWrap, ShutdownWrap } = binding ?? { WriteWrap: PlainRequest, ShutdownWrap: PlainRequest };

export const writeRequest = (): StreamRequest => new WriteWrap();
export const shutdownRequest = (): StreamRequest => new ShutdownWrap();
