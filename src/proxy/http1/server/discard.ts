// Takes the rest of a request that was answered without it, so that the connection can go on; within limits.
import type { BodySink, BodySource } from '../../message/body.ts';
import type { ProxyError } from '../../message/proxy-error.ts';

/** More than this is not taken: the connection ends instead. */
export const discardedBytesMax = 64 * 1024;

export class Discard implements BodySink {
  readonly #onTooMuch: () => void;
  #bytes = 0;

  constructor(onTooMuch: () => void) {
    this.#onTooMuch = onTooMuch;
  }

  from(_source: BodySource): void {}

  data(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes > discardedBytesMax) this.#onTooMuch();
    return true;
  }

  end(_trailers: string): void {}

  fail(_why: ProxyError): void {}
}
