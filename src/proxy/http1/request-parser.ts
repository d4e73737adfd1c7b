// Parser of a request's head: method, target and version as sent, then the fields (RFC 9112 §3). framing.ts and the
// guard interpret target and fields together.
import { requestLineBytes } from '../message/parsed-request.ts';
import { CR, LF, SP, targetByte, tokenByte } from './characters.ts';
import { HeadParser, type HeadStatus } from './head-parser.ts';

/** "HTTP/" */
const protocolName = Buffer.from('HTTP/', 'latin1');
const methodBytesMax = 64;
/** Empty lines allowed before a request. */
const emptyLinesMax = 4;

export class RequestParser extends HeadParser {
  method = '';
  target = '';
  /** Minor version of HTTP/1: 0, or 1 for each later one (RFC 9110 §2.5). */
  minor = 1;
  /** Start of the target in the head. */
  #targetStart = 0;
  #targetEnd = 0;
  /** Start line of the last whole head. */
  readonly #last = { method: '', target: '', minor: 1 };

  get protocol(): 'HTTP/1.0' | 'HTTP/1.1' {
    return this.minor === 0 ? 'HTTP/1.0' : 'HTTP/1.1';
  }

  override parse(bytes: Buffer, from: number, to: number): HeadStatus {
    const status = super.parse(bytes, from, to);
    if (status !== 'done' || this.head.repeated) return status;
    this.target = this.head.slice(this.#targetStart, this.#targetEnd);
    const last = this.#last;
    last.method = this.method;
    last.target = this.target;
    last.minor = this.minor;
    return status;
  }

  /** True when the head equals that of the previous request, byte for byte. */
  get repeats(): boolean {
    return this.head.repeated;
  }

  /** Returns whether the bytes are empty lines only: no request has begun. */
  skips(bytes: Buffer, from: number, to: number): boolean {
    return bytes[from] === CR && afterEmptyLines(bytes, from, to) === to;
  }

  override reset(): void {
    super.reset();
    this.method = '';
    this.target = '';
    this.minor = 1;
  }

  protected override restoreStartLine(): void {
    const last = this.#last;
    this.method = last.method;
    this.target = last.target;
    this.minor = last.minor;
  }

  protected override parseStartLine(bytes: Buffer, from: number, to: number): HeadStatus {
    const lineStart = bytes[from] === CR ? afterEmptyLines(bytes, from, to) : from;
    if (lineStart >= to || bytes[lineStart] === CR) {
      return lineStart + 1 < to ? this.malformed('invalid byte before the request') : 'more';
    }
    let at = lineStart;
    while (at < to && tokenByte[bytes[at] ?? 0] === 1) at++;
    if (at - lineStart > methodBytesMax) return this.malformed('method too long');
    if (at === to) return 'more';
    if (bytes[at] !== SP || at === lineStart) return this.malformed('invalid byte in the method');
    const methodEnd = at;
    const targetStart = ++at;
    while (at < to && targetByte[bytes[at] ?? 0] === 1) at++;
    if (requestLineBytes(methodEnd - lineStart, at - targetStart) > this.limits.startLineBytesMax)
      return 'line-too-long';
    if (at === to) return 'more';
    if (bytes[at] !== SP || at === targetStart) return this.malformed('invalid byte in the request target');
    const targetEnd = at;
    const status = this.#parseVersion(bytes, at + 1, to);
    if (status !== 'done') return status;
    this.method = methodText(bytes, lineStart, methodEnd);
    this.#targetStart = targetStart - from;
    this.#targetEnd = targetEnd - from;
    return 'done';
  }

  #parseVersion(bytes: Buffer, at: number, to: number): HeadStatus {
    const length = Math.min(protocolName.length, to - at);
    for (let i = 0; i < length; i++) if (bytes[at + i] !== protocolName[i]) return this.malformed('invalid protocol');
    if (to - at < 10) return 'more';
    const major = bytes[at + 5] ?? 0;
    const minor = bytes[at + 7] ?? 0;
    if (!isDigit(major) || bytes[at + 6] !== 46 || !isDigit(minor)) return this.malformed('invalid protocol version');
    if (bytes[at + 8] !== CR || bytes[at + 9] !== LF)
      return this.malformed('request line does not end after the version');
    if (major !== 49) return 'version';
    this.minor = minor === 48 ? 0 : 1;
    this.end = at + 10;
    return 'done';
  }
}

/**
 * Returns the start of the first line that is not empty (RFC 9112 §2.2): old clients send empty lines after a body.
 */
function afterEmptyLines(bytes: Buffer, from: number, to: number): number {
  const end = from + 2 * emptyLinesMax;
  let at = from;
  while (at < end && at + 1 < to && bytes[at] === CR && bytes[at + 1] === LF) at += 2;
  return at;
}

const isDigit = (byte: number): boolean => byte >= 48 && byte <= 57;

/** Returns the method, without making a string for common ones. */
function methodText(bytes: Buffer, start: number, end: number): string {
  const length = end - start;
  if (length === 3 && bytes[start] === 71 && bytes[start + 1] === 69 && bytes[start + 2] === 84) return 'GET';
  if (
    length === 4 &&
    bytes[start] === 80 &&
    bytes[start + 1] === 79 &&
    bytes[start + 2] === 83 &&
    bytes[start + 3] === 84
  )
    return 'POST';
  return bytes.toString('latin1', start, end);
}
