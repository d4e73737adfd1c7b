// Whoever takes what a connection reads.

export interface SocketReceiver {
  /** `bytes[0..length)` have arrived. They change as soon as the call returns, and may be changed within it. */
  onBytes(bytes: Buffer, length: number): void;
}
