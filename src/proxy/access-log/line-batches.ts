// Access log lines on their way from a worker to main: gathered for a few milliseconds, sent as one piece of memory, and
// no more under way than a fixed number of bytes. What does not fit is dropped and counted; a request never waits.
import type { Cancel, Clock } from '../../util/clock.ts';
import { LineBytes } from './line-bytes.ts';
import type { LineSink } from './line-sink.ts';

export interface LineBatch {
  readonly path: string;
  /** Whole lines in UTF-8; the memory is the batch's own, and goes with it. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lines: number;
  /** Lines that did not fit since the batch before. */
  readonly dropped: number;
}

/** A line is with main within this time. */
const gatherMs = 20;
/** Sent at once beyond this, in bytes. */
const batchMax = 256 * 1024;
/** Sent and not yet written, or gathered; in bytes, for one place, and one line more. */
export const unwrittenMax = 4 * 1024 * 1024;

/** Batches that were sent and are not written yet, for one place: while there are so many, lines gather in one piece. */
export const unwrittenBatchesMax = 32;

/** Memory for gathering beyond this is given back. */
const keptMax = 2 * batchMax;

export class LineBatches {
  readonly #clock: Clock;
  readonly #send: (batch: LineBatch) => void;
  readonly #sinks = new Map<string, LineBatcher>();
  #cancel: Cancel | undefined;

  /** `send` is answered by `written`, with the number of bytes. */
  constructor(clock: Clock, send: (batch: LineBatch) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  sinkOf(path: string): LineSink {
    const known = this.#sinks.get(path);
    if (known !== undefined) return known;
    const made = new LineBatcher(path, this.#send, () => {
      this.#cancel ??= this.#clock.after(gatherMs, () => this.#onGathered());
    });
    this.#sinks.set(path, made);
    return made;
  }

  written(path: string, bytes: number): void {
    this.#sinks.get(path)?.written(bytes);
  }

  /** Everything gathered is sent now. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    for (const sink of this.#sinks.values()) sink.flush();
  }

  #onGathered(): void {
    this.#cancel = undefined;
    for (const sink of this.#sinks.values()) sink.send();
  }
}

class LineBatcher implements LineSink {
  readonly #path: string;
  readonly #send: (batch: LineBatch) => void;
  readonly #onFirst: () => void;
  readonly #bytes = new LineBytes();
  /** Length of the whole lines, in bytes; a line that was begun and not ended is not sent. */
  #ended = 0;
  #lines = 0;
  #dropped = 0;
  #unwritten = 0;
  #batches = 0;

  constructor(path: string, send: (batch: LineBatch) => void, onFirst: () => void) {
    this.#path = path;
    this.#send = send;
    this.#onFirst = onFirst;
  }

  begin(): LineBytes | undefined {
    if (this.#unwritten + this.#ended > unwrittenMax) {
      this.#dropped++;
      return undefined;
    }
    this.#bytes.cutTo(this.#ended);
    return this.#bytes;
  }

  end(): void {
    if (this.#lines === 0) this.#onFirst();
    this.#ended = this.#bytes.length;
    this.#lines++;
    if (this.#ended > batchMax) this.send();
  }

  written(bytes: number): void {
    this.#unwritten -= bytes;
    const hadWaited = this.#batches-- >= unwrittenBatchesMax;
    if (hadWaited || (this.#dropped > 0 && this.#lines === 0)) this.flush();
  }

  /** Unless too much is on its way: then `written` sends it. */
  send(): void {
    if (this.#lines === 0 || this.#batches < unwrittenBatchesMax) this.flush();
  }

  flush(): void {
    if (this.#lines === 0 && this.#dropped === 0) return;
    this.#bytes.cutTo(this.#ended);
    const batch = { path: this.#path, bytes: this.#bytes.take(keptMax), lines: this.#lines, dropped: this.#dropped };
    this.#unwritten += this.#ended;
    if (this.#lines > 0) this.#batches++;
    this.#ended = 0;
    this.#lines = 0;
    this.#dropped = 0;
    this.#send(batch);
  }
}
