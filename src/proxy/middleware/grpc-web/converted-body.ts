// Body whose chunks are converted one by one as they pass, and which may get a last chunk in the place of its trailers.
import type { BodySink, BodySource } from '../../message/body.ts';
import type { ProxyError } from '../../message/proxy-error.ts';

export interface Conversion {
  /** Returns the converted chunk; undefined when it cannot be converted. */
  chunk(chunk: Buffer): Buffer | undefined;
  /** Returns the last chunk, if there is one, and the trailers behind it; undefined when the body ends too early. */
  end(trailers: string): { readonly last: Buffer | undefined; readonly trailers: string } | undefined;
  /** Called once where a part is undefined; nothing of the body follows. */
  readonly onRefused?: () => void;
}

export class ConvertedBody implements BodySource, BodySink {
  readonly #source: BodySource;
  readonly #conversion: Conversion;
  #sink: BodySink | undefined;
  /** Trailers that wait until the sink takes more. */
  #ending: string | undefined;
  #over = false;

  constructor(source: BodySource, conversion: Conversion) {
    this.#source = source;
    this.#conversion = conversion;
  }

  start(sink: BodySink): void {
    this.#sink = sink;
    this.#source.start(this);
  }

  pause(): void {
    if (this.#ending === undefined) this.#source.pause();
  }

  resume(): void {
    if (this.#ending === undefined) this.#source.resume();
    else this.#finish(this.#ending);
  }

  abort(why: ProxyError): void {
    this.#over = true;
    this.#source.abort(why);
  }

  from(_source: BodySource): void {}

  data(chunk: Buffer): boolean {
    if (this.#over) return true;
    const converted = this.#conversion.chunk(chunk);
    if (converted === undefined) {
      this.#refuse();
      return true;
    }
    return converted.length === 0 || this.#sink?.data(converted) !== false;
  }

  end(trailers: string): void {
    if (this.#over) return;
    const ended = this.#conversion.end(trailers);
    if (ended === undefined) {
      this.#refuse();
      return;
    }
    this.#ending = ended.trailers;
    if (ended.last === undefined || this.#sink?.data(ended.last) !== false) this.#finish(ended.trailers);
  }

  fail(why: ProxyError): void {
    if (this.#over) return;
    this.#over = true;
    this.#sink?.fail(why);
  }

  #finish(trailers: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#sink?.end(trailers);
  }

  #refuse(): void {
    this.#over = true;
    this.#conversion.onRefused?.();
  }
}
