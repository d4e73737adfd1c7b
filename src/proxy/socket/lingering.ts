// Lingering close of a client's connection: received bytes are read and dropped for a while, for closing with bytes
// unread would reset the connection, and the last response with it (RFC 9112 §9.6).
import type { ByteSocket } from './byte-socket.ts';

/** Milliseconds of one look at a closing connection. */
export const lingerMs = 1_000;
/** Looks after which a client that takes nothing is given up. */
const stalledLooksMax = 60;
/** Looks for which a client that still sends is read: many clients read a response only after they have sent all. */
const receivingLooksMax = 30;

export class Lingering {
  readonly #socket: ByteSocket;
  /** Unwritten bytes of the socket at the last look. */
  #unwritten = 0;
  #looks = 0;
  #received = false;
  #receivingLooks = 0;

  constructor(socket: ByteSocket) {
    this.#socket = socket;
  }

  /** Records that bytes arrived and were dropped. */
  onBytes(): void {
    this.#received = true;
  }

  /**
   * Returns whether to linger on: the last bytes are still being taken, or have not stood still for long, or the
   * client still sends. The caller asks once in `lingerMs`.
   */
  lingersOn(): boolean {
    if (this.#received && ++this.#receivingLooks < receivingLooksMax) {
      this.#received = false;
      return true;
    }
    const { writableLength } = this.#socket;
    this.#looks = writableLength < this.#unwritten ? 0 : this.#looks + 1;
    this.#unwritten = writableLength;
    return writableLength > 0 && this.#looks < stalledLooksMax;
  }
}
