// Messages of gRPC in the bytes of a stream: a flag, a length, the message (gRPC over HTTP/2, Length-Prefixed-Message).
import { ExternalFailure } from './external-failure.ts';

const prefixBytes = 5;
/** A service that says more is not believed. */
const messageBytesMax = 64 * 1024 * 1024;

export function frameOf(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(prefixBytes + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, prefixBytes);
  return frame;
}

/** Takes chunks as they come and gives whole messages. */
export class MessageReader {
  #held: Buffer = Buffer.alloc(0);

  /** Throws ExternalFailure for what cannot be a message. */
  *read(chunk: Buffer): Generator<Buffer> {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    while (this.#held.length >= prefixBytes) {
      if (this.#held[0] !== 0) throw new ExternalFailure('a compressed message, which was not asked for');
      const length = this.#held.readUInt32BE(1);
      if (length > messageBytesMax) throw new ExternalFailure('a message is too large');
      if (this.#held.length < prefixBytes + length) return;
      const message = this.#held.subarray(prefixBytes, prefixBytes + length);
      this.#held = this.#held.subarray(prefixBytes + length);
      yield message;
    }
  }

  /** Part of a message has come. */
  get partial(): boolean {
    return this.#held.length > 0;
  }
}
