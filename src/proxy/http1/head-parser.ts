// Head parser: reads a start line and field lines from bytes as they arrive (RFC 9112 §2–§5), strictly: only CR LF
// ends a line, no folding, no space before the colon. Never guesses and never throws; an ambiguity is a problem.
// Request and response parsers add their start line; the body decoder uses it for trailers.
import { COLON, CR, HT, LF, SP, tokenByte, valueByte } from './characters.ts';
import { Head } from './head.ts';

export interface HeadLimits {
  /** Bytes of the start line. */
  readonly startLineBytesMax: number;
  /** Bytes of the whole head. */
  readonly headBytesMax: number;
  /** Sum of the lengths of names and values; 0 = no limit beside `headBytesMax`. */
  readonly fieldBytesMax: number;
  readonly linesMax: number;
}

/** `done`: the head ends before `end`. `more`: the bytes so far are valid. Any other status is final. */
export type HeadStatus = 'more' | 'done' | 'malformed' | 'line-too-long' | 'head-too-large' | 'version';

/** Bytes that may stand around a start line: the four empty lines before it, and its end. */
const aroundStartLine = 10;

export abstract class HeadParser {
  readonly head = new Head();
  /** Reason for `malformed`, for error messages. */
  problem = '';
  /** After `done`: position behind the head in the bytes given. */
  end = 0;
  /** May be changed at any time; applies to the head at hand. */
  limits: HeadLimits;
  /** Start of the first unread line, from the beginning of the head. */
  #line = 0;
  /** Start of the field lines, from the beginning of the head. */
  #fields = 0;
  /** Position up to which that line is known to hold no LF; 0 = not scanned. */
  #scanned = 0;
  #started = false;
  /** Limits that the last whole head met. */
  #metLimits: HeadLimits | undefined;

  constructor(limits: HeadLimits) {
    this.limits = limits;
  }

  /** Prepares for the next head. */
  reset(): void {
    this.head.clear();
    this.problem = '';
    this.#line = 0;
    this.#scanned = 0;
    this.#started = false;
  }

  /**
   * Parses on. `bytes[from..to)` begins with the first byte of the head each time and holds at least the bytes of the
   * previous call; after `more` it may lie elsewhere the next time.
   */
  parse(bytes: Buffer, from: number, to: number): HeadStatus {
    if (this.#scanned > 0 && !this.#lineCompleted(bytes, from, to)) return this.#incomplete(to - from);
    if (!this.#started) {
      if (this.#scanned === 0 && this.#repeatsWhole(bytes, from, to)) return 'done';
      const status = this.parseStartLine(bytes, from, to);
      if (status === 'more') return this.#incomplete(to - from);
      if (status !== 'done') return status;
      this.#started = true;
      this.#fields = this.end - from;
      this.#line = this.#fields;
      if (this.#repeats(bytes, from, to)) return this.#checked(from);
    }
    return this.#parseFields(bytes, from, to);
  }

  /** Reads the start line and sets `end` behind it. */
  protected abstract parseStartLine(bytes: Buffer, from: number, to: number): HeadStatus;

  /** Restores the start line of the previous head. */
  protected restoreStartLine(): void {}

  /** Returns whether the head equals the previous one, byte for byte, under the same limits. Sets `end` behind it. */
  #repeatsWhole(bytes: Buffer, from: number, to: number): boolean {
    const { head } = this;
    const length = head.wholeLength;
    const end = from + length;
    if (length === 0 || end > to || bytes[end - 1] !== LF || bytes[end - 3] !== LF) return false;
    if (this.limits !== this.#metLimits || !head.repeatWhole(bytes, from)) return false;
    this.end = end;
    this.restoreStartLine();
    return true;
  }

  /**
   * Returns whether the fields equal those of the previous head, byte for byte; they are not read again. Sets `end`
   * behind them.
   */
  #repeats(bytes: Buffer, from: number, to: number): boolean {
    const length = this.head.fieldsLength;
    const end = this.end + length;
    if (length === 0 || end > to || bytes[end - 1] !== LF || bytes[end - 3] !== LF) return false;
    if (!this.head.repeat(bytes.toString('latin1', from, end), this.#fields)) return false;
    this.end = end;
    return true;
  }

  protected malformed(problem: string): HeadStatus {
    this.problem = problem;
    return 'malformed';
  }

  /** Scans only new bytes, so that a head that trickles in costs no more than one that arrives whole. */
  #lineCompleted(bytes: Buffer, from: number, to: number): boolean {
    const found = bytes.subarray(from + this.#scanned, to).indexOf(LF);
    return found >= 0;
  }

  #incomplete(length: number): HeadStatus {
    this.#scanned = length;
    if (!this.#started && length > this.limits.startLineBytesMax + aroundStartLine) return 'line-too-long';
    return length > this.limits.headBytesMax ? 'head-too-large' : 'more';
  }

  #parseFields(bytes: Buffer, from: number, to: number): HeadStatus {
    const { head } = this;
    const start = from + this.#fields;
    let at = from + this.#line;
    head.forget();
    for (;;) {
      this.#line = at - from;
      if (at >= to) return this.#incomplete(to - from);
      if (bytes[at] === CR) {
        if (at + 1 >= to) return this.#incomplete(to - from);
        if (bytes[at + 1] !== LF) return this.malformed('CR without LF');
        return this.#finish(bytes, from, at + 2);
      }
      const nameStart = at;
      while (at < to && tokenByte[bytes[at] ?? 0] === 1) at++;
      if (at === to) return this.#incomplete(to - from);
      if (bytes[at] !== COLON || at === nameStart) return this.malformed(nameProblem(bytes[at] ?? 0, at === nameStart));
      const nameEnd = at++;
      while (at < to && (bytes[at] === SP || bytes[at] === HT)) at++;
      const valueStart = at;
      while (at < to && valueByte[bytes[at] ?? 0] === 1) at++;
      if (at + 1 >= to && (at === to || bytes[at] === CR)) return this.#incomplete(to - from);
      if (bytes[at] !== CR || bytes[at + 1] !== LF) return this.malformed(valueProblem(bytes[at] ?? 0));
      let valueEnd = at;
      while (valueEnd > valueStart && (bytes[valueEnd - 1] === SP || bytes[valueEnd - 1] === HT)) valueEnd--;
      at += 2;
      if (head.count === this.limits.linesMax) return 'head-too-large';
      head.addLine(bytes, start, nameStart - start, nameEnd - start, valueStart - start, valueEnd - start);
    }
  }

  #finish(bytes: Buffer, from: number, end: number): HeadStatus {
    this.end = end;
    const status = this.#checked(from);
    if (status === 'done') this.head.finish(bytes.toString('latin1', from, end), this.#fields);
    return status;
  }

  /** Checks the limits, which may have changed since the same fields were read. */
  #checked(from: number): HeadStatus {
    const { fieldBytesMax, headBytesMax, linesMax } = this.limits;
    const { fieldBytes, count } = this.head;
    const tooLarge = this.end - from > headBytesMax || (fieldBytesMax > 0 && fieldBytes > fieldBytesMax);
    this.#metLimits = this.limits;
    return tooLarge || count > linesMax ? 'head-too-large' : 'done';
  }
}

function nameProblem(byte: number, first: boolean): string {
  if (first && (byte === SP || byte === HT)) return 'folded field line';
  if (byte === SP || byte === HT) return 'blank in or after a field name';
  if (byte === LF) return 'LF without CR';
  return first && byte === COLON ? 'empty field name' : 'invalid byte in a field name';
}

function valueProblem(byte: number): string {
  if (byte === LF) return 'LF without CR';
  return byte === CR ? 'CR without LF' : 'invalid byte in a field value';
}
