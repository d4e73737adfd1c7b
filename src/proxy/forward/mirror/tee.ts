// Tee: a passing body that is copied. When it is sent again from its beginning, the copy is not.
import type { BodySink, BodySource } from '../../message/body.ts';
import type { ProxyError } from '../../message/proxy-error.ts';

export interface CopySink {
  /** True while the copy wants the rest, even where the consumer of the original does not. */
  readonly wantsRest: boolean;
  copy(chunk: Buffer): void;
  copyEnd(trailers: string): void;
}

export class Tee implements BodySource, BodySink {
  readonly #source: BodySource;
  readonly #taker: CopySink;
  #sink: BodySink | undefined;
  /** Bytes since the body began, in this attempt. */
  #position = 0;
  #copied = 0;
  #ended = false;
  #begun = false;

  constructor(source: BodySource, taker: CopySink) {
    this.#source = source;
    this.#taker = taker;
  }

  start(sink: BodySink): void {
    this.#sink = sink;
    this.#position = 0;
    this.#begun = true;
    this.#source.start(this);
  }

  /** Makes the source begin anew with the next start. */
  rewind(): void {
    this.#sink = undefined;
    this.#begun = false;
  }

  /** Sends the rest to another sink. */
  continueInto(sink: BodySink): void {
    if (this.#begun) {
      this.#sink = sink;
      this.#source.resume();
    } else this.start(sink);
  }

  pause(): void {
    this.#source.pause();
  }

  resume(): void {
    this.#source.resume();
  }

  /** Continues for the copy alone, if it wants the rest. */
  abort(why: ProxyError): void {
    this.#sink = undefined;
    if (this.#taker.wantsRest) this.#source.resume();
    else this.#source.abort(why);
  }

  from(): void {}

  data(chunk: Buffer): boolean {
    const known = this.#copied - this.#position;
    this.#position += chunk.length;
    if (this.#position > this.#copied) {
      this.#copied = this.#position;
      this.#taker.copy(known > 0 ? chunk.subarray(known) : chunk);
    }
    return this.#sink?.data(chunk) ?? true;
  }

  end(trailers: string): void {
    if (!this.#ended) this.#taker.copyEnd(trailers);
    this.#ended = true;
    this.#sink?.end(trailers);
  }

  fail(why: ProxyError): void {
    this.#sink?.fail(why);
  }
}
