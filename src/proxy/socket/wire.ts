// The sockets of the data plane. All of a thread read into the same bytes, so that reading allocates nothing: what
// arrived is the receiver's for the duration of one call, and whoever wants to keep it copies it.
import { Socket, type SocketConstructorOpts } from 'node:net';
import type { Security } from './security.ts';

/** Whoever takes what a socket reads. */
export interface WireReceiver {
  /** `bytes[0..length)` have arrived. They change as soon as the call returns, and may be changed within it. */
  onBytes(bytes: Buffer, length: number): void;
}

/** What one read may bring. */
const arrivedBytesMax = 64 * 1024;
/** Where all sockets of the thread read to. */
export const arrived = Buffer.allocUnsafeSlow(arrivedBytesMax);

/** A write of this size and more is followed by `drain`, even when the system takes it at once. */
export const drainedBytesMin = 8 * 1024;

/** A plain connection, and what a secured one (tls/secure-wire.ts) looks like from outside. */
export class Wire extends Socket {
  receiver: WireReceiver | undefined;
  /** Absent where bytes travel as they are. */
  security: Security | undefined;

  /** `accepted` is a connection as Node's server has it; its FIN is not answered by itself. Without, `connect` follows. */
  constructor(accepted?: object) {
    const onread = {
      buffer: arrived,
      callback: (length: number): boolean => {
        this.receiver?.onBytes(arrived, length);
        return true;
      },
    };
    const options = { onread, noDelay: true, writableHighWaterMark: drainedBytesMin };
    const acceptedOptions = { ...options, handle: accepted, allowHalfOpen: true };
    super((accepted === undefined ? options : acceptedOptions) as SocketConstructorOpts);
  }
}
