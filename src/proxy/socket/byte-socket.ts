// A connection of the data plane as those who speak HTTP on it see it: plain ones are tcp-socket.ts, secured ones
// tls/secure-socket.ts. All of a thread read into the same bytes, so that reading allocates nothing: what arrived is the
// receiver's for the duration of one call, and whoever wants to keep it copies it.
import type { Security } from './security.ts';
import type { TunnelEnd } from './tunnel-end.ts';

export type { SocketReceiver } from './receiver.ts';

/** What one read may bring. */
const arrivedBytesMax = 64 * 1024;
/** Where all connections of the thread read to. */
export const arrived = Buffer.allocUnsafeSlow(arrivedBytesMax);
/** The same, four bytes at a time. */
export const arrivedWords = new Int32Array(arrived.buffer);

/** With so much still to be taken by the system, writers should wait for `drain`. */
export const drainedBytesMin = 8 * 1024;

/** `blocked`: the system has not taken a write at once; `drain` follows, or the end of the connection. */
export type SocketEvent = 'end' | 'error' | 'close' | 'drain' | 'blocked';

export interface ByteSocket extends TunnelEnd {
  /** Absent where bytes travel as they are. */
  readonly security: Security | undefined;
  /** Undefined when it has gone already. */
  readonly remoteAddress: string | undefined;
  /** Neither ended nor destroyed. */
  readonly writable: boolean;
  /** The other side has ended. */
  readonly readableEnded: boolean;
  /** It has ended without the goodbye that TLS asks for: whoever is on the way may have cut what it said. */
  readonly truncated: boolean;
  /**
   * A write that finds the connection reset ends it only once all that came before the reset has been read. For a
   * receiver that does not stop reading for good.
   */
  readsAfterReset: boolean;
  /** Bytes that the system has not taken yet. */
  readonly writableLength: number;
  /** Text may wait for the end of the turn. */
  write(text: string, encoding: 'latin1'): boolean;
  write(bytes: Uint8Array): boolean;
  /** What was written and waits leaves now. */
  flush(): void;
  /** Ends it so that the other side notices (RST). */
  resetAndDestroy(): unknown;
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown;
  on(event: SocketEvent, listener: () => void): unknown;
  off(event: SocketEvent, listener: () => void): unknown;
}
