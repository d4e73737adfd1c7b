// Requests as the proxy makes them, one at a time: the bytes of a head, hot in one small buffer; a new text of them; host
// and path as slices of that text, without a hash.
import { RequestView } from '../../../src/expression/cel/value-view.ts';
import type { RoutedRequest, ServedSection } from '../../../src/proxy/message/routed-request.ts';

/** One object for all look-ups, as a connection has it. */
export class BenchRequest implements RoutedRequest {
  readonly id = '';
  readonly method = 'GET';
  readonly scheme = 'http';
  readonly authority = '';
  readonly clientIp = '192.0.2.1';
  readonly query = '';
  readonly view = new RequestView(this);
  section: ServedSection | undefined;
  host = '';
  path = '';

  header(): undefined {
    return undefined;
  }

  *headers(): Generator<never> {}
}

/** The head of a GET with numbers in it, written anew for each request. */
export class Head {
  readonly #bytes: Buffer;
  /** Offsets of the last digit of each number. */
  readonly #ends: readonly number[];
  readonly #path: readonly [start: number, end: number];
  readonly #host: readonly [start: number, end: number];

  /** Takes path and host, in which each run of `#`, in that order, is a number. */
  constructor(path: string, host: string) {
    const form = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: bench/1.0\r\nAccept: */*\r\n\r\n`;
    this.#bytes = Buffer.from(form);
    this.#ends = [...form.matchAll(/#+/g)].map(({ index, 0: { length } }) => index + length - 1);
    this.#path = [4, 4 + path.length];
    this.#host = [form.indexOf(host), form.indexOf(host) + host.length];
  }

  /** Makes `request` the one with the lowest digits of these numbers. */
  read(request: BenchRequest, first: number, second: number, third: number): void {
    this.#write(this.#ends[0], first);
    this.#write(this.#ends[1], second);
    this.#write(this.#ends[2], third);
    const text = this.#bytes.toString('latin1');
    request.path = text.slice(this.#path[0], this.#path[1]);
    request.host = text.slice(this.#host[0], this.#host[1]);
  }

  #write(end: number | undefined, number: number): void {
    if (end === undefined) return;
    let left = number;
    for (let i = end; i > end - digits; i--) {
      this.#bytes[i] = 0x30 + (left % 10);
      left = Math.floor(left / 10);
    }
  }
}

const digits = 6;

/** A number as the forms have it. */
export const number = (i: number): string => String(i).padStart(digits, '0');

/** Makes `request` the next one. */
export type Next = (request: BenchRequest) => void;
