// Access log lines on their way from a worker to main: gathered for a few milliseconds, sent as one piece of memory, and
// no more under way than a fixed number of bytes. What does not fit is dropped and counted; a request never waits.
import type { Cancel, Clock } from '../../clock.ts';
import type { LineSink } from '../middleware/access-log.ts';

export interface LineBatch {
  readonly path: string;
  /** Whole lines in UTF-8; the memory is the batch's own, and goes with it. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lines: number;
  /** Lines that did not fit since the batch before. */
  readonly dropped: number;
}

/** A line is with main within this time. */
const gatherMs = 10;
/** Sent at once beyond this, in bytes. */
const batchMax = 64 * 1024;
/** Sent and not yet written, or gathered; in bytes, for one place. */
export const unwrittenMax = 4 * 1024 * 1024;

/** Memory for gathering beyond this is given back. */
const keptMax = 4 * batchMax;
/** Of one unit of a text in UTF-16. */
const utf8BytesMax = 3;
const none: Buffer = Buffer.alloc(0);

export class LineBatches {
  readonly #clock: Clock;
  readonly #send: (batch: LineBatch) => void;
  readonly #sinks = new Map<string, Gathering>();
  #cancel: Cancel | undefined;

  /** `send` is answered by `written`, with the number of bytes. */
  constructor(clock: Clock, send: (batch: LineBatch) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  sinkOf(path: string): LineSink {
    const known = this.#sinks.get(path);
    if (known !== undefined) return known;
    const made = new Gathering(path, this.#send, () => {
      this.#cancel ??= this.#clock.after(gatherMs, () => this.flush());
    });
    this.#sinks.set(path, made);
    return made;
  }

  written(path: string, bytes: number): void {
    this.#sinks.get(path)?.written(bytes);
  }

  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    for (const sink of this.#sinks.values()) sink.flush();
  }
}

class Gathering implements LineSink {
  readonly #path: string;
  readonly #send: (batch: LineBatch) => void;
  readonly #onFirst: () => void;
  /** Lines are written here at once: gathered as text, each would be put together again from its pieces later. */
  #bytes: Buffer = none;
  #length = 0;
  #lines = 0;
  #dropped = 0;
  #unwritten = 0;

  constructor(path: string, send: (batch: LineBatch) => void, onFirst: () => void) {
    this.#path = path;
    this.#send = send;
    this.#onFirst = onFirst;
  }

  write(line: string): void {
    if (this.#unwritten + this.#length + line.length > unwrittenMax) {
      this.#dropped++;
      return;
    }
    if (this.#lines === 0) this.#onFirst();
    this.#reserve(line.length * utf8BytesMax);
    this.#length += this.#bytes.write(line, this.#length, 'utf8');
    this.#lines++;
    if (this.#length > batchMax) this.flush();
  }

  written(bytes: number): void {
    this.#unwritten -= bytes;
    if (this.#dropped > 0 && this.#lines === 0) this.flush();
  }

  flush(): void {
    if (this.#lines === 0 && this.#dropped === 0) return;
    const bytes = Uint8Array.from(this.#bytes.subarray(0, this.#length));
    const batch = { path: this.#path, bytes, lines: this.#lines, dropped: this.#dropped };
    this.#unwritten += this.#length;
    this.#length = 0;
    if (this.#bytes.length > keptMax) this.#bytes = none;
    this.#lines = 0;
    this.#dropped = 0;
    this.#send(batch);
  }

  #reserve(count: number): void {
    const length = this.#length + count;
    if (length <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(4_096, length * 2));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
