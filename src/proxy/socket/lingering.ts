// The last moments of a client's connection: what still comes is read and dropped for a while, for closing with bytes
// unread would reset the connection, and the last response with it (RFC 9112 §9.6).
import type { ByteSocket } from './byte-socket.ts';

/** How long a connection that has said its last word still listens. */
export const lingerMs = 1_000;
/** One that takes nothing for so many times `lingerMs` is given up. */
const stillLooksMax = 60;
/** One that still sends is read for so many times `lingerMs`: many clients look for a response once they have sent all. */
const heardLooksMax = 30;

export class Lingering {
  readonly #socket: ByteSocket;
  /** What the socket still had to write when it was looked at last. */
  #unwritten = 0;
  #looks = 0;
  #heard = false;
  #heardLooks = 0;

  constructor(socket: ByteSocket) {
    this.#socket = socket;
  }

  /** Something came and was dropped. */
  onBytes(): void {
    this.#heard = true;
  }

  /**
   * To be asked once in `lingerMs`: whether the last bytes are still on their way to a client that takes them, or has not
   * stood still for long; or whether the client still sends.
   */
  goesOn(): boolean {
    if (this.#heard && ++this.#heardLooks < heardLooksMax) {
      this.#heard = false;
      return true;
    }
    const { writableLength } = this.#socket;
    this.#looks = writableLength < this.#unwritten ? 0 : this.#looks + 1;
    this.#unwritten = writableLength;
    return writableLength > 0 && this.#looks < stillLooksMax;
  }
}
