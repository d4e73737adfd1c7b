// Body that goes by unchanged, for what looks at it or bounds it.
import type { BodySink, BodySource } from './body.ts';
import type { ProxyError } from './proxy-error.ts';

export abstract class PassingBody implements BodySource, BodySink {
  readonly #source: BodySource;
  #sink: BodySink | undefined;

  constructor(source: BodySource) {
    this.#source = source;
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
    this.#source.abort(why);
  }

  from(): void {}

  data(chunk: Buffer): boolean {
    return this.#sink?.data(chunk) ?? true;
  }

  end(trailers: string): void {
    this.#sink?.end(trailers);
  }

  fail(why: ProxyError): void {
    this.#sink?.fail(why);
  }

  /** Passes nothing on any more. */
  protected detach(): void {
    this.#sink = undefined;
  }
}
