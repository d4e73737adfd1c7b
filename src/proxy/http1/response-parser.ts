// Parser of a response's head: status and reason, then the fields (RFC 9112 §4).
import { CR, LF, SP, valueByte } from './characters.ts';
import { HeadParser, type HeadStatus } from './head-parser.ts';

/** "HTTP/1." */
const protocolName = Buffer.from('HTTP/1.', 'latin1');

export class ResponseParser extends HeadParser {
  status = 0;
  reason = '';
  /** Minor version of HTTP/1: 0, or 1 for each later one (RFC 9110 §2.5). */
  minor = 1;

  protected override parseStartLine(bytes: Buffer, from: number, to: number): HeadStatus {
    const length = Math.min(protocolName.length, to - from);
    for (let i = 0; i < length; i++) if (bytes[from + i] !== protocolName[i]) return this.malformed('invalid protocol');
    // "HTTP/1.1 200" and the byte after it
    if (to - from < 13) return 'more';
    const minor = (bytes[from + 7] ?? 0) - 48;
    if (minor < 0 || minor > 9 || bytes[from + 8] !== SP) return this.malformed('invalid protocol version');
    const status = digits(bytes, from + 9);
    if (status < 100) return this.malformed('invalid status code');
    // A missing blank before an empty reason is common and not ambiguous.
    const reasonStart = bytes[from + 12] === SP ? from + 13 : from + 12;
    let at = reasonStart;
    while (at < to && bytes[from + 12] === SP && valueByte[bytes[at] ?? 0] === 1) at++;
    if (at - from > this.limits.startLineBytesMax) return 'line-too-long';
    if (at + 1 >= to && (at === to || bytes[at] === CR)) return 'more';
    if (bytes[at] !== CR || bytes[at + 1] !== LF) return this.malformed('invalid byte in the status line');
    this.minor = minor === 0 ? 0 : 1;
    this.status = status;
    const isOk = at - reasonStart === 2 && bytes[reasonStart] === 79 && bytes[reasonStart + 1] === 75;
    this.reason = isOk ? 'OK' : bytes.toString('latin1', reasonStart, at);
    this.end = at + 2;
    return 'done';
  }
}

/** Returns the number of three digits at `at`, or −1. */
function digits(bytes: Buffer, at: number): number {
  let sum = 0;
  for (let i = 0; i < 3; i++) {
    const digit = (bytes[at + i] ?? 0) - 48;
    if (digit < 0 || digit > 9) return -1;
    sum = sum * 10 + digit;
  }
  return sum;
}
