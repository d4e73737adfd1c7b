// Brings the lines of a lenient upstream into the form that the strict parser takes, before that parser sees them: what
// goes on to a client, over any version of HTTP, is what the strict parser has found valid, and nothing else is guessed.
import { CR, LF } from './characters.ts';
import type { HeadLimits, HeadStatus } from './head-parser.ts';
import type { Lenience } from './lenience.ts';

const blanksBeforeColon = /^([!#$%&'*+\-.^_`|~\w]+)[ \t]+:/;
const contentLength = /^content-length:/i;
const framing = /^(?:content-length|transfer-encoding):/i;

export class HeadNormalizer {
  /** Bytes of the head as it came. */
  consumed = 0;
  readonly #lenience: Lenience;
  readonly #hasStartLine: boolean;
  #text = '';
  /** Lines of the text, the start line among them. */
  #lines = 0;
  /** Bytes known to hold no further LF. */
  #scanned = 0;
  #length: string | undefined;
  #whole = false;
  /** The strict parser is to look at the text now: it is whole, or would be refused already. */
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

  /** As `HeadParser.parse`, by way of `strict`, which gets all lines so far. On `done` the head has `consumed` bytes. */
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

  /** `end` is where its LF lies. */
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

  /** Undefined: the line says what one before it has said. */
  #fieldLine(line: string): string | undefined {
    const { spaceBeforeColon, controlBytes, duplicateContentLength } = this.#lenience;
    let normal = spaceBeforeColon ? line.replace(blanksBeforeColon, '$1:') : line;
    // A doubt about where the message ends is never resolved in its favour.
    if (controlBytes && !framing.test(normal)) normal = withoutControlBytes(normal);
    return duplicateContentLength && contentLength.test(normal) ? this.#lengthLine(normal) : normal;
  }

  /** One value, however often it is said (RFC 9110 §8.6). Different ones stay for the strict parser to refuse. */
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

/** Each control byte of the value is a blank (RFC 9110 §5.5), but for HTAB, and for CR, which stays to be refused. */
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
