// Messages of gRPC in the bytes of a stream: a flag, a length, the message (gRPC over HTTP/2, Length-Prefixed-Message).
import { ReceiveBuffer } from '../../util/receive-buffer.ts';
import { ExternalFailure } from './external-failure.ts';

const prefixBytes = 5;
/** Maximum size of a message, in bytes; a longer one is an error of the service. */
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
  readonly #held = new ReceiveBuffer();

  /**
   * Reads a chunk, which is not needed after the call; a message belongs to `take`. False of `take`: the rest is not
   * wanted. Throws ExternalFailure for bytes that cannot be a message.
   */
  read(chunk: Buffer, take: (message: Buffer) => boolean): void {
    const held = this.#held;
    if (held.length === 0) {
      const taken = this.#messages(chunk, chunk.length, take);
      if (taken < chunk.length) held.append(chunk, taken, chunk.length);
      return;
    }
    held.append(chunk, 0, chunk.length);
    held.drop(this.#messages(held.bytes, held.length, take));
  }

  /** Part of a message has come. */
  get partial(): boolean {
    return this.#held.length > 0;
  }

  /** Takes the whole messages in `bytes[0..length)` and returns their length. */
  #messages(bytes: Buffer, length: number, take: (message: Buffer) => boolean): number {
    let at = 0;
    while (length - at >= prefixBytes) {
      if (bytes[at] !== 0) throw new ExternalFailure('a compressed message, which was not asked for');
      const size = bytes.readUInt32BE(at + 1);
      if (size > messageBytesMax) throw new ExternalFailure('a message is too large');
      const end = at + prefixBytes + size;
      if (length < end) break;
      const message = Buffer.from(bytes.subarray(at + prefixBytes, end));
      at = end;
      if (!take(message)) return length;
    }
    return at;
  }
}
