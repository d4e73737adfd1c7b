// Tunnel end: the upstream's side of a tunnel, a socket or a stream with the same interface.
import type { SocketReceiver } from './receiver.ts';

export interface TunnelEnd {
  receiver: SocketReceiver | undefined;
  /** True after `close` was emitted. */
  readonly closed: boolean;
  /** Writes. Returns false when `drain` follows. */
  write(bytes: Uint8Array): boolean;
  end(): unknown;
  destroy(): unknown;
  /** Closes once all written bytes have left. */
  destroySoon(): unknown;
  /** Keeps the write side open after the peer's end. */
  keepOpen(): unknown;
  pause(): unknown;
  resume(): unknown;
  setKeepAlive(on: boolean, afterMs: number): unknown;
  on(event: 'drain' | 'end' | 'error' | 'close', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  removeAllListeners(event: 'drain'): unknown;
}
