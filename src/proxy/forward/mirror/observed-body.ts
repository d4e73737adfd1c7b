// Body of a response that comparisons read while it passes to the client.
import type { BodySink, BodySource } from '../../message/body.ts';
import type { ProxyError } from '../../message/proxy-error.ts';
import type { Comparison } from './comparison.ts';

export class ObservedBody implements BodySource, BodySink {
  readonly #source: BodySource;
  readonly #comparisons: readonly Comparison[];
  #sink: BodySink | undefined;

  constructor(source: BodySource, comparisons: readonly Comparison[]) {
    this.#source = source;
    this.#comparisons = comparisons;
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
    this.#skip();
    this.#source.abort(why);
  }

  from(): void {}

  data(chunk: Buffer): boolean {
    for (const each of this.#comparisons) each.primaryData(chunk);
    return this.#sink?.data(chunk) ?? true;
  }

  end(trailers: string): void {
    for (const each of this.#comparisons) each.primaryEnd();
    this.#sink?.end(trailers);
  }

  fail(why: ProxyError): void {
    this.#skip();
    this.#sink?.fail(why);
  }

  #skip(): void {
    for (const each of this.#comparisons) each.skip();
  }
}
