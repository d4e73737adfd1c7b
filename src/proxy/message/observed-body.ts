// Body that an observer sees while it goes by unchanged.
import type { BodySource } from './body.ts';
import { PassingBody } from './passing-body.ts';
import type { ProxyError } from './proxy-error.ts';

export interface BodyObserver {
  data(chunk: Buffer): void;
  end(): void;
  /** The body ends before it is whole. */
  broken?(): void;
}

export class ObservedBody extends PassingBody {
  readonly #observer: BodyObserver;

  constructor(source: BodySource, observer: BodyObserver) {
    super(source);
    this.#observer = observer;
  }

  override abort(why: ProxyError): void {
    this.#observer.broken?.();
    super.abort(why);
  }

  override data(chunk: Buffer): boolean {
    this.#observer.data(chunk);
    return super.data(chunk);
  }

  override end(trailers: string): void {
    this.#observer.end();
    super.end(trailers);
  }

  override fail(why: ProxyError): void {
    this.#observer.broken?.();
    super.fail(why);
  }
}
