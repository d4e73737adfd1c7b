// Limited body: a request body of unknown length that may have so many bytes (`maxRequestBodyBytes`, contract.md §2.2).
import type { BodySource } from '../message/body.ts';
import { PassingBody } from '../message/passing-body.ts';
import type { ProxyError } from '../message/proxy-error.ts';

export class LimitedBody extends PassingBody {
  readonly #onOver: () => void;
  #left: number;
  #isOver = false;

  /** `onOver`: called once, in place of the chunk that exceeds the limit and of all that follows. */
  constructor(source: BodySource, bytesMax: number, onOver: () => void) {
    super(source);
    this.#left = bytesMax;
    this.#onOver = onOver;
  }

  override abort(why: ProxyError): void {
    this.close();
    super.abort(why);
  }

  /** Ends the limit with its exchange: what the source still delivers is dropped. */
  close(): void {
    this.#isOver = true;
    this.detach();
  }

  override data(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    this.#left -= chunk.length;
    if (this.#left >= 0) return super.data(chunk);
    this.close();
    this.#onOver();
    return true;
  }
}
