// Discard: reads the rest of a request that has its response already, so that the connection can be reused; within
// limits.
import type { BodySink, BodySource } from '../../message/body.ts';
import type { ProxyError } from '../../message/proxy-error.ts';

/** Bytes read where the length is known: for more, the response says `Connection: close`. */
export const announcedBytesMax = 1 << 20;
/**
 * Bytes read where the length is not known: beyond them the connection ends although the response has not announced
 * it. Far more than a client has in transit when it reads the response; otherwise its next request could be lost.
 */
const chunkedBytesMax = 16 << 20;
/** Milliseconds for reading the rest. */
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
