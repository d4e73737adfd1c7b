// Message framing: the end of a message, and whether its connection persists (RFC 9112 §6, §9). A length that can be
// read in two ways is a problem, in a request and in a response.
import { fieldId } from '../fields/field-name.ts';
import type { Head } from './head.ts';
import type { RequestParser } from './request-parser.ts';
import type { ResponseParser } from './response-parser.ts';

/** `close`: until the connection ends; responses only. */
export type BodyKind = 'none' | 'length' | 'chunked' | 'close';

/**
 * Filled again for each message, except for one that repeats the previous; belongs to a connection, as its parser
 * does.
 */
export class Framing {
  kind: BodyKind = 'none';
  /** Bytes of the body; with `length` only. */
  length = 0;
  /** True when the sender keeps the connection open. */
  keepAlive = true;
  /**
   * Seconds for which the sender keeps the idle connection open, by `Keep-Alive: timeout=…` (RFC 2068 §19.7.1);
   * infinite where it does not say.
   */
  idleSeconds = Number.POSITIVE_INFINITY;
  /** Tokens of `Connection` other than close, keep-alive and upgrade: field names to remove, in lower case. */
  named: readonly string[] = none;
  /** `Upgrade` requested by `Connection: upgrade`, as sent; empty when there is none to pass on. */
  upgrade = '';
  /** True when the client waits for 100 before it sends its body. */
  expectContinue = false;
  #closes = false;
  #upgradeNamed = false;
  #options = 0;
  #toHead = false;

  /** Returns the reason why the request cannot be read, or an empty text. */
  readRequest(parser: RequestParser): string {
    const { head, minor } = parser;
    if (head.repeated) return '';
    this.#clear(minor === 1);
    const problem = this.#readFields(head, minor);
    if (problem !== '') return problem;
    if (this.kind === 'close') this.kind = 'none';
    this.expectContinue &&= minor === 1 && this.kind !== 'none';
    if (this.upgrade !== '') this.#admitUpgrade(minor);
    return '';
  }

  /**
   * `toHead`: the response is to a HEAD request. Returns the reason why the response cannot be read, or an empty
   * text.
   */
  readResponse(parser: ResponseParser, toHead: boolean): string {
    const { head, minor, status } = parser;
    if (head.repeated && toHead === this.#toHead) return '';
    this.#toHead = toHead;
    this.#clear(minor === 1);
    const problem = this.#readFields(head, minor);
    if (problem !== '') return problem;
    if (status >= 200 && status !== 204 && status !== 304 && !toHead) {
      if (this.kind === 'close') this.keepAlive = false;
      return '';
    }
    // After 101 the connection carries another protocol.
    if (status === 101) this.keepAlive = false;
    if (status < 200 && (this.kind === 'chunked' || this.length > 0)) return 'an interim response with a body';
    // The body may follow although the status forbids it: such a connection is not reused.
    if (status === 204 && (this.kind === 'chunked' || this.length > 0)) this.keepAlive = false;
    this.kind = 'none';
    return '';
  }

  /** Drops an upgrade that has a body, since a tunnel has none; clients that POST send a length of 0. */
  #admitUpgrade(minor: number): void {
    const bodiless = this.kind === 'none' || (this.kind === 'length' && this.length === 0);
    if (minor === 0 || !bodiless || isHttp(this.upgrade)) this.upgrade = '';
    else this.kind = 'none';
  }

  #clear(keepAlive: boolean): void {
    this.kind = 'close';
    this.length = 0;
    this.keepAlive = keepAlive;
    this.idleSeconds = Number.POSITIVE_INFINITY;
    this.named = none;
    this.upgrade = '';
    this.expectContinue = false;
    this.#closes = false;
    this.#options = 0;
  }

  #readFields(head: Head, minor: number): string {
    this.#upgradeNamed = false;
    for (let i = 0; i < head.count; i++) {
      switch (head.id(i)) {
        case fieldId.contentLength: {
          if (this.kind === 'length') return 'more than one Content-Length';
          if (this.kind === 'chunked') return 'Content-Length beside Transfer-Encoding';
          this.kind = 'length';
          this.length = lengthOf(head.value(i));
          if (this.length < 0) return 'invalid Content-Length';
          break;
        }
        case fieldId.transferEncoding:
          if (minor === 0) return 'Transfer-Encoding in HTTP/1.0';
          if (this.kind === 'chunked') return 'more than one Transfer-Encoding';
          if (this.kind === 'length') return 'Content-Length beside Transfer-Encoding';
          if (head.value(i).toLowerCase() !== 'chunked') return 'unknown Transfer-Encoding';
          this.kind = 'chunked';
          break;
        case fieldId.connection:
          if (!this.#readConnection(head.value(i))) return 'too many options in Connection';
          break;
        case fieldId.upgrade:
          this.upgrade = this.upgrade === '' ? head.value(i) : `${this.upgrade}, ${head.value(i)}`;
          break;
        case fieldId.expect:
          this.expectContinue = true;
          break;
        case fieldId.hopByHop:
          if (head.name(i).toLowerCase() === 'keep-alive') this.idleSeconds = timeoutOf(head.value(i));
          break;
      }
    }
    if (!this.#upgradeNamed) this.upgrade = '';
    return '';
  }

  /** Parses `Connection`. Returns false when it has more options than a legitimate sender uses. */
  #readConnection(value: string): boolean {
    if (value === 'keep-alive' || value === 'Keep-Alive') {
      this.keepAlive = !this.#closes;
      return true;
    }
    for (let from = 0; from <= value.length; ) {
      if (++this.#options > connectionOptionsMax) return false;
      const comma = value.indexOf(',', from);
      const end = comma < 0 ? value.length : comma;
      this.#readOption(value.slice(from, end).trim().toLowerCase());
      from = end + 1;
    }
    return true;
  }

  #readOption(option: string): void {
    if (option === 'close') {
      this.#closes = true;
      this.keepAlive = false;
    } else if (option === 'keep-alive') this.keepAlive = !this.#closes;
    else if (option === 'upgrade') this.#upgradeNamed = true;
    else if (option !== '') this.named = this.named === none ? [option] : [...this.named, option];
  }
}

/**
 * Options of all Connection lines together, empty ones included: each is compared with each field's name, and a line
 * has room for 500,000.
 */
const connectionOptionsMax = 128;

const none: readonly string[] = [];

/**
 * Returns whether an upgrade is to a version of HTTP, which is never passed on: the proxy could not see h2c requests.
 */
const isHttp = (upgrade: string): boolean => /(^|,)\s*(h2c?|http)\b/i.test(upgrade);

/** Returns the parameter `timeout` of `Keep-Alive`; infinite where there is none that is a number. */
function timeoutOf(value: string): number {
  const seconds = /(?:^|,)\s*timeout\s*=\s*(\d{1,9})\s*(?:,|$)/i.exec(value)?.[1];
  return seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds);
}

/** Returns the length; digits only, below 2^53; −1 for any other text. */
function lengthOf(text: string): number {
  if (text.length === 0 || text.length > 15) return -1;
  let sum = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return -1;
    sum = sum * 10 + digit;
  }
  return sum;
}
