// Takes the rest of a request that was answered without it, so that the connection can go on; within limits.
import type { BodySink, BodySource } from '../../message/body.ts';
import type { ProxyError } from '../../message/proxy-error.ts';

/** Bytes taken where their number is known: for more the answer says `Connection: close`. */
export const announcedBytesMax = 1 << 20;
/**
 * Bytes taken where their number is not known: behind more the connection ends although the answer has not said so. Far
 * more than what a client has on its way when it reads the answer, or its next request could be lost.
 */
const chunkedBytesMax = 16 << 20;
/** Time for it. */
export const discardMs = 30_000;

export class Discard implements BodySink {
  readonly #onTooMuch: () => void;
  #bytes = 0;

  constructor(onTooMuch: () => void) {
    this.#onTooMuch = onTooMuch;
  }

  from(_source: BodySource): void {}

  data(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes > chunkedBytesMax) this.#onTooMuch();
    return true;
  }

  end(_trailers: string): void {}

  fail(_why: ProxyError): void {}
}
