// Body that passes a processor chunk by chunk: each is shown, and the answer's chunk goes on in its place. One is
// under way at a time, so that neither side is ever ahead of the other by more than a chunk.
import type { BodySink, BodySource } from '../../message/body.ts';
import type { ProxyError } from '../../message/proxy-error.ts';

/** One message of a streamed body (contract.md §8.6). */
export const chunkBytesMax = 32 * 1024;

/** Shows a chunk; resolves with what takes its place, rejects when the body must not go on. */
export type ShowChunk = (chunk: Buffer, endOfStream: boolean) => Promise<Buffer>;

export class ProcessedBody implements BodySource, BodySink {
  readonly #source: BodySource;
  readonly #show: ShowChunk;
  readonly #onRefused: () => void;
  #sink: BodySink | undefined;
  /** Chunks that have arrived while another one was being shown. */
  #waiting: Buffer[] = [];
  #showing = false;
  #trailers: string | undefined;
  #sinkFull = false;
  #sourceWaits = false;
  #over = false;

  /** Calls `onRefused` when the body does not go on and the request has to be answered otherwise. */
  constructor(source: BodySource, show: ShowChunk, onRefused: () => void) {
    this.#source = source;
    this.#show = show;
    this.#onRefused = onRefused;
  }

  start(sink: BodySink): void {
    this.#sink = sink;
    this.#source.start(this);
  }

  pause(): void {
    this.#sinkFull = true;
  }

  resume(): void {
    this.#sinkFull = false;
    this.#goOn();
  }

  abort(why: ProxyError): void {
    this.#over = true;
    this.#source.abort(why);
  }

  from(_source: BodySource): void {}

  data(chunk: Buffer): boolean {
    for (let at = 0; at < chunk.length; at += chunkBytesMax)
      this.#waiting.push(Buffer.from(chunk.subarray(at, at + chunkBytesMax)));
    this.#sourceWaits = true;
    this.#goOn();
    return false;
  }

  end(trailers: string): void {
    this.#trailers = trailers;
    this.#goOn();
  }

  fail(why: ProxyError): void {
    this.#over = true;
    this.#sink?.fail(why);
  }

  #goOn(): void {
    if (this.#showing || this.#sinkFull || this.#over) return;
    const chunk = this.#waiting.shift();
    if (chunk !== undefined) void this.#pass(chunk);
    else if (this.#trailers !== undefined) void this.#finish(this.#trailers);
    else if (this.#sourceWaits) {
      this.#sourceWaits = false;
      this.#source.resume();
    }
  }

  async #pass(chunk: Buffer): Promise<void> {
    this.#showing = true;
    const shown = await this.#shown(chunk, false);
    this.#showing = false;
    if (shown === undefined || this.#over) return;
    if (shown.length > 0 && this.#sink?.data(shown) === false) this.#sinkFull = true;
    this.#goOn();
  }

  async #finish(trailers: string): Promise<void> {
    this.#showing = true;
    const shown = await this.#shown(Buffer.alloc(0), true);
    if (shown === undefined || this.#over) return;
    this.#over = true;
    if (shown.length > 0) this.#sink?.data(shown);
    this.#sink?.end(trailers);
  }

  async #shown(chunk: Buffer, endOfStream: boolean): Promise<Buffer | undefined> {
    try {
      return await this.#show(chunk, endOfStream);
    } catch {
      if (!this.#over) this.#onRefused();
      this.#over = true;
      return undefined;
    }
  }
}
