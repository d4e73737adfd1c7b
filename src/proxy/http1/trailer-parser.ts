// Trailer parser: the field lines after the last chunk (RFC 9112 §7.1.2), by the rules of a head's fields with
// tighter limits.

import { ReceiveBuffer } from '../../util/receive-buffer.ts';
import { fieldId } from '../fields/field-name.ts';
import { HeadParser, type HeadStatus } from './head-parser.ts';

const trailerBytesMax = 16 * 1024;

const limits = { startLineBytesMax: 0, headBytesMax: trailerBytesMax, fieldBytesMax: 0, linesMax: 64 };

export class TrailerParser extends HeadParser {
  complete = false;
  /** Trailer bytes so far; they may arrive in parts. */
  readonly #held = new ReceiveBuffer();

  constructor() {
    super(limits);
  }

  /**
   * Returns the number of bytes that belong to the trailers. Sets `complete`, or `problem` when they cannot be read.
   */
  feed(bytes: Buffer, from: number, to: number): number {
    const former = this.#held.length;
    this.#held.append(bytes, from, Math.min(to, from + trailerBytesMax + 1 - former));
    const status = this.parse(this.#held.bytes, 0, this.#held.length);
    if (status === 'done') {
      this.complete = !this.#framesAgain();
      if (!this.complete) this.problem = 'a trailer that speaks of framing';
      return this.end - former;
    }
    if (status === 'more') return to - from;
    if (this.problem === '') this.problem = 'trailers too large';
    return to - from;
  }

  protected override parseStartLine(_bytes: Buffer, from: number): HeadStatus {
    this.end = from;
    return 'done';
  }

  /** Returns whether a trailer is a framing or routing field, which has no place after the body (RFC 9110 §6.5.1). */
  #framesAgain(): boolean {
    const { contentLength, transferEncoding, host } = fieldId;
    return [contentLength, transferEncoding, host].some((id) => this.head.find(id) >= 0);
  }
}
