// Access log lines on their way from a worker to main: gathered for a few milliseconds, sent as one text, and no more
// under way than fits into a fixed number of characters. What does not fit is dropped and counted; a request never waits.
import type { Cancel, Clock } from '../../clock.ts';
import type { LineSink } from '../middleware/access-log.ts';

export interface LineBatch {
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  /** Lines that did not fit since the batch before. */
  readonly dropped: number;
}

/** A line is with main within this time. */
const gatherMs = 10;
/** Sent at once beyond this, in characters. */
const batchMax = 64 * 1024;
/** Sent and not yet written, or gathered; in characters, for one place. */
export const unwrittenMax = 4 * 1024 * 1024;

export class LineBatches {
  readonly #clock: Clock;
  readonly #send: (batch: LineBatch) => void;
  readonly #sinks = new Map<string, Gathering>();
  #cancel: Cancel | undefined;

  /** `send` is answered by `written`, with the number of characters. */
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

  written(path: string, characters: number): void {
    this.#sinks.get(path)?.written(characters);
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
  #text = '';
  #lines = 0;
  #dropped = 0;
  #unwritten = 0;

  constructor(path: string, send: (batch: LineBatch) => void, onFirst: () => void) {
    this.#path = path;
    this.#send = send;
    this.#onFirst = onFirst;
  }

  write(line: string): void {
    if (this.#unwritten + this.#text.length + line.length > unwrittenMax) {
      this.#dropped++;
      return;
    }
    if (this.#lines === 0) this.#onFirst();
    this.#text += line;
    this.#lines++;
    if (this.#text.length > batchMax) this.flush();
  }

  written(characters: number): void {
    this.#unwritten -= characters;
    if (this.#dropped > 0 && this.#lines === 0) this.flush();
  }

  flush(): void {
    if (this.#lines === 0 && this.#dropped === 0) return;
    const batch = { path: this.#path, text: this.#text, lines: this.#lines, dropped: this.#dropped };
    this.#unwritten += this.#text.length;
    this.#text = '';
    this.#lines = 0;
    this.#dropped = 0;
    this.#send(batch);
  }
}
