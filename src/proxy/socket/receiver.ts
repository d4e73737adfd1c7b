// Receiver of a connection's bytes.

export interface SocketReceiver {
  /** Takes `bytes[0..length)`. They change as soon as the call returns, and may be changed within it. */
  onBytes(bytes: Buffer, length: number): void;
}
