// Normalizer of heads from lenient upstreams: rewrites their lines into the form that the strict parser takes, before
// that parser sees them. A client gets, in any version of HTTP, only what the strict parser has found valid; nothing
// else is guessed.
import { CR, LF } from './characters.ts';
import type { HeadLimits, HeadStatus } from './head-parser.ts';
import type { Lenience } from './lenience.ts';

const blanksBeforeColon = /^([!#$%&'*+\-.^_`|~\w]+)[ \t]+:/;
const contentLength = /^content-length:/i;
const framing = /^(?:content-length|transfer-encoding):/i;

export class HeadNormalizer {
  /** Bytes of the head as received. */
  consumed = 0;
  readonly #lenience: Lenience;
  readonly #hasStartLine: boolean;
  #text = '';
  /** Number of lines of the text, start line included. */
  #lines = 0;
  /** Bytes known to hold no further LF. */
  #scanned = 0;
  #length: string | undefined;
  #whole = false;
  /** True when the strict parser should look at the text now: it is whole, or would be refused already. */
  #due = false;

  constructor(lenience: Lenience, hasStartLine: boolean) {
    this.#lenience = lenience;
    this.#hasStartLine = hasStartLine;
  }

  reset(): void {
    this.consumed = 0;
    this.#text = '';
    this.#lines = 0;
    this.#scanned = 0;
    this.#length = undefined;
    this.#whole = false;
    this.#due = false;
  }

  /** Same contract as `HeadParser.parse`; `strict` gets all lines so far. On `done` the head has `consumed` bytes. */
  parse(
    bytes: Buffer,
    from: number,
    to: number,
    limits: HeadLimits,
    strict: (normal: Buffer) => HeadStatus,
  ): HeadStatus {
    this.#takeLines(bytes, from, to);
    if (this.#due) {
      this.#due = false;
      const status = strict(Buffer.from(this.#text, 'latin1'));
      if (status !== 'more') return status;
    }
    if (to - from > limits.headBytesMax) return 'head-too-large';
    const startLineIsOpen = this.#hasStartLine && this.#lines === 0;
    return startLineIsOpen && to - from > limits.startLineBytesMax ? 'line-too-long' : 'more';
  }

  #takeLines(bytes: Buffer, from: number, to: number): void {
    while (!this.#whole) {
      const found = bytes.subarray(from + this.#scanned, to).indexOf(LF);
      if (found < 0) {
        this.#scanned = to - from;
        return;
      }
      const start = from + this.consumed;
      const end = from + this.#scanned + found;
      this.#takeLine(bytes, start, end);
      this.consumed = end + 1 - from;
      this.#scanned = this.consumed;
    }
  }

  /** Takes a line; `end` is the position of its LF. */
  #takeLine(bytes: Buffer, start: number, end: number): void {
    const closed = end > start && bytes[end - 1] === CR;
    if (!closed && !this.#lenience.bareLf) {
      this.#text += `${bytes.toString('latin1', start, end)}\n`;
      this.#due = true;
      return;
    }
    const line = bytes.toString('latin1', start, closed ? end - 1 : end);
    const isStartLine = this.#hasStartLine && this.#lines++ === 0;
    this.#whole = line === '';
    if (isStartLine || this.#whole) this.#due = true;
    const normal = isStartLine ? line : this.#fieldLine(line);
    if (normal !== undefined) this.#text += `${normal}\r\n`;
  }

  /** Returns the normalized line; undefined for a repetition of an earlier one. */
  #fieldLine(line: string): string | undefined {
    const { spaceBeforeColon, controlBytes, duplicateContentLength } = this.#lenience;
    let normal = spaceBeforeColon ? line.replace(blanksBeforeColon, '$1:') : line;
    // An ambiguity about the end of the message stays for the strict parser to refuse.
    if (controlBytes && !framing.test(normal)) normal = withoutControlBytes(normal);
    return duplicateContentLength && contentLength.test(normal) ? this.#lengthLine(normal) : normal;
  }

  /**
   * Returns one line for repeated equal values (RFC 9110 §8.6). Different ones stay for the strict parser to refuse.
   */
  #lengthLine(line: string): string | undefined {
    const colon = line.indexOf(':');
    const values = line.slice(colon + 1).split(',');
    const value = trimmed(values[0] ?? '');
    if (values.some((each) => trimmed(each) !== value)) return line;
    if (this.#length === value) return undefined;
    this.#length ??= value;
    return `${line.slice(0, colon)}: ${value}`;
  }
}

const trimmed = (value: string): string => value.replace(/^[ \t]+|[ \t]+$/g, '');

/**
 * Replaces each control byte of the value by a blank (RFC 9110 §5.5), except HTAB, and CR, which stays to be refused.
 */
function withoutControlBytes(line: string): string {
  let from = line.indexOf(':') + 1;
  if (from === 0) return line;
  let normal = '';
  for (let at = from; at < line.length; at++) {
    if (!isControl(line.charCodeAt(at))) continue;
    normal += `${line.slice(normal === '' ? 0 : from, at)} `;
    from = at + 1;
  }
  return normal === '' ? line : normal + line.slice(from);
}

const isControl = (byte: number): boolean => (byte < 32 && byte !== 9 && byte !== CR) || byte === 127;
