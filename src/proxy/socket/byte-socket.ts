// Byte socket: a connection of the data plane, as the HTTP codecs see it; plain ones are tcp-socket.ts, those under
// TLS tls/secure-socket.ts. All sockets of a thread read into the same buffer, so that reading allocates nothing:
// received bytes are valid for the duration of one call, and a receiver that keeps them makes a copy.
import type { ProxiedPlaces } from './proxy-header.ts';
import type { Security } from './security.ts';
import type { TunnelEnd } from './tunnel-end.ts';

export type { SocketReceiver } from './receiver.ts';

/** Bytes of one read at most. */
const readBytesMax = 64 * 1024;
/** Shared read buffer of all connections of the thread. */
export const sharedReadBuffer = Buffer.allocUnsafeSlow(readBytesMax);
/** The same buffer as 32-bit words. */
export const sharedReadWords = new Int32Array(sharedReadBuffer.buffer);

/** Bytes pending in the kernel from which writers should wait for `drain`. */
export const drainedBytesMin = 8 * 1024;

/** `blocked`: the kernel has not taken a write at once; `drain` follows, or the end of the connection. */
export type SocketEvent = 'end' | 'error' | 'close' | 'drain' | 'blocked';

export interface ByteSocket extends TunnelEnd {
  /** Absent on a plain connection. */
  readonly security: Security | undefined;
  /** Undefined after the connection has closed. */
  readonly remoteAddress: string | undefined;
  /** Ends of the connection; undefined after it has closed. */
  readonly places: ProxiedPlaces | undefined;
  /** True while neither ended nor destroyed. */
  readonly writable: boolean;
  /** True once the peer has ended. */
  readonly readableEnded: boolean;
  /**
   * True when the connection ended without the close_notify of TLS: an attacker in the path may have cut the data.
   */
  readonly truncated: boolean;
  /**
   * Lets a write that finds the connection reset end it only after all bytes before the reset have been read. For a
   * receiver that does not stop reading for good.
   */
  readsAfterReset: boolean;
  /** Bytes that the kernel has not taken yet. */
  readonly writableLength: number;
  /** Writes text, which may wait for the end of the tick. */
  write(text: string, encoding: 'latin1'): boolean;
  write(bytes: Uint8Array): boolean;
  /** Writes waiting text now. */
  flush(): void;
  /** Ends the connection so that the peer notices (RST). */
  resetAndDestroy(): unknown;
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown;
  on(event: SocketEvent, listener: () => void): unknown;
  off(event: SocketEvent, listener: () => void): unknown;
}
