// Body that an observer sees while it goes by unchanged.
import type { BodySink, BodySource } from './body.ts';
import type { ProxyError } from './proxy-error.ts';

export interface BodyObserver {
  data(chunk: Buffer): void;
  end(): void;
  /** The body ends before it is whole. */
  broken?(): void;
}

export class ObservedBody implements BodySource, BodySink {
  readonly #source: BodySource;
  readonly #observer: BodyObserver;
  #sink: BodySink | undefined;

  constructor(source: BodySource, observer: BodyObserver) {
    this.#source = source;
    this.#observer = observer;
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
    this.#observer.broken?.();
    this.#source.abort(why);
  }

  from(): void {}

  data(chunk: Buffer): boolean {
    this.#observer.data(chunk);
    return this.#sink?.data(chunk) ?? true;
  }

  end(trailers: string): void {
    this.#observer.end();
    this.#sink?.end(trailers);
  }

  fail(why: ProxyError): void {
    this.#observer.broken?.();
    this.#sink?.fail(why);
  }
}
