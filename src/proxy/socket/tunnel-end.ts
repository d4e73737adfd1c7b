// The upstream's side of a tunnel: a socket, or a stream that behaves like one as far as a tunnel can tell.
import type { SocketReceiver } from './receiver.ts';

export interface TunnelEnd {
  receiver: SocketReceiver | undefined;
  /** `close` has been told. */
  readonly closed: boolean;
  /** False: `drain` follows when there is room again. */
  write(bytes: Uint8Array): boolean;
  end(): unknown;
  destroy(): unknown;
  /** Ends once everything written has left. */
  destroySoon(): unknown;
  /** From now on it can still be written to when the other side has ended. */
  keepOpen(): unknown;
  pause(): unknown;
  resume(): unknown;
  setKeepAlive(on: boolean, afterMs: number): unknown;
  on(event: 'drain' | 'end' | 'error' | 'close', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  removeAllListeners(event: 'drain'): unknown;
}
