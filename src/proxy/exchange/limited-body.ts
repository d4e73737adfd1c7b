// Limited body: a request body of unknown length that may have so many bytes (`maxRequestBodyBytes`, contract.md §2.2).
import type { BodySink, BodySource } from '../message/body.ts';
import type { ProxyError } from '../message/proxy-error.ts';

export class LimitedBody implements BodySource, BodySink {
  readonly #source: BodySource;
  readonly #onOver: () => void;
  #left: number;
  #sink: BodySink | undefined;
  #isOver = false;

  /** `onOver`: called once, in place of the chunk that exceeds the limit and of all that follows. */
  constructor(source: BodySource, bytesMax: number, onOver: () => void) {
    this.#source = source;
    this.#left = bytesMax;
    this.#onOver = onOver;
  }

  start(sink: BodySink): void {
    this.#sink = sink;
    this.#source.start(this);
  }

  pause(): void {
    this.#source.pause();
  }

  resume(): void {
    this.#source.resume();
  }

  abort(why: ProxyError): void {
    this.close();
    this.#source.abort(why);
  }

  /** Ends the limit with its exchange: what the source still delivers is dropped. */
  close(): void {
    this.#isOver = true;
    this.#sink = undefined;
  }

  from(_source: BodySource): void {}

  data(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    this.#left -= chunk.length;
    if (this.#left >= 0) return this.#sink?.data(chunk) ?? true;
    this.close();
    this.#onOver();
    return true;
  }

  end(trailers: string): void {
    this.#sink?.end(trailers);
  }

  fail(why: ProxyError): void {
    this.#sink?.fail(why);
  }
}
