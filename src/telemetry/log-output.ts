// Output of the log: standard output of the process. No line waits for it, and no failure of it ends the process: lines that
// cannot be written are lost and counted, and the next line that gets out is followed by one that says so.
import { write, writeSync } from 'node:fs';
import type { LineSink } from './buffered-log-stream.ts';

/** Unwritten characters beyond which lines are lost: the reader of a pipe has stopped reading. */
const unwrittenMax = 4 * 1024 * 1024;
/** Milliseconds until a pipe that is full is tried again. */
const retryMs = 20;
/** Tries of a full pipe at the end of the process. */
const lastTries = 50;

const lineEnd = 10;

export interface LostLines {
  readonly lines: number;
  readonly reason: string;
}

export class LogOutput implements LineSink {
  readonly #descriptor: number;
  /** Called when lines get out again, with those that were lost since the last call. */
  readonly #onRecovered: (lost: LostLines) => void;
  #waiting = '';
  /** Bytes that are being written; undefined between two writes. */
  #underWay: Buffer | undefined;
  /** True when the output ends within a line. */
  #isTorn = false;
  #lost = 0;
  #told = 0;
  #reason = '';

  constructor(descriptor: number, onRecovered: (lost: LostLines) => void) {
    this.#descriptor = descriptor;
    this.#onRecovered = onRecovered;
  }

  /** Number of lines that were lost since the start. */
  get lostLines(): number {
    return this.#lost;
  }

  /** Takes whole lines. */
  write(text: string): void {
    const unwritten = this.#waiting.length + (this.#underWay?.length ?? 0);
    if (unwritten > 0 && unwritten + text.length > unwrittenMax) {
      this.#lose(Buffer.from(text), 'the output is not read');
      return;
    }
    this.#waiting += text;
    if (this.#underWay === undefined) this.#writeNext();
  }

  /** Writes what waits, for the end of the process; what is under way belongs to a thread of the pool already. */
  flushSync(): void {
    let rest = this.#takeWaiting();
    for (let tries = 0; rest.length > 0; ) {
      try {
        rest = rest.subarray(writeSync(this.#descriptor, rest));
      } catch (error) {
        if (!isFull(error) || ++tries > lastTries) {
          this.#lose(rest, reasonOf(error));
          return;
        }
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs);
      }
    }
  }

  #takeWaiting(): Buffer {
    const bytes = Buffer.from(this.#isTorn && this.#waiting !== '' ? `\n${this.#waiting}` : this.#waiting);
    this.#waiting = '';
    return bytes;
  }

  #writeNext(): void {
    const bytes = this.#takeWaiting();
    this.#underWay = bytes.length > 0 ? bytes : undefined;
    if (bytes.length > 0) this.#writeSome();
  }

  #writeSome(): void {
    const bytes = this.#underWay as Buffer;
    write(this.#descriptor, bytes, 0, bytes.length, null, (error, written) => {
      if (error === null) this.#onWritten(bytes, written);
      else if (isFull(error)) setTimeout(() => this.#writeSome(), retryMs);
      else this.#onFailed(bytes, error);
    });
  }

  #onWritten(bytes: Buffer, written: number): void {
    if (written > 0) this.#isTorn = bytes[written - 1] !== lineEnd;
    if (written < bytes.length) {
      this.#underWay = bytes.subarray(written);
      this.#writeSome();
      return;
    }
    if (this.#lost > this.#told) {
      const lost = { lines: this.#lost - this.#told, reason: this.#reason };
      this.#told = this.#lost;
      this.#onRecovered(lost);
    }
    this.#writeNext();
  }

  #onFailed(bytes: Buffer, error: unknown): void {
    this.#lose(bytes, reasonOf(error));
    this.#writeNext();
  }

  #lose(bytes: Buffer, reason: string): void {
    for (let at = bytes.indexOf(lineEnd); at >= 0; at = bytes.indexOf(lineEnd, at + 1)) this.#lost++;
    this.#reason = reason;
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const isFull = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EAGAIN';
