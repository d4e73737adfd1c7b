// Requests as the proxy makes them, one at a time: bytes that lie hot in one small buffer, and host and path cut out of it
// as new, flat strings that nobody has hashed.
import { RequestView } from '../../../src/expression/cel/view.ts';
import type { RoutedRequest } from '../../../src/proxy/request-head.ts';

/** One object for all look-ups, as a connection has it. */
export class BenchRequest implements RoutedRequest {
  readonly method = 'GET';
  readonly scheme = 'http';
  readonly authority = '';
  readonly clientIp = '192.0.2.1';
  readonly query = '';
  readonly view = new RequestView(this);
  host = '';
  path = '';

  header(): undefined {
    return undefined;
  }

  *headers(): Generator<never> {}
}

/** Text with numbers in it, as bytes that are written anew for each request. */
export class Bytes {
  readonly #bytes: Buffer;
  readonly #ends: readonly number[];

  /** Each `#` is a digit; each run of them a number. */
  constructor(form: string) {
    this.#bytes = Buffer.from(form);
    this.#ends = [...form.matchAll(/#+/g)].map(({ index, 0: { length } }) => index + length - 1);
  }

  /** A new string with the lowest digits of these numbers. */
  text(first: number, second = 0): string {
    this.#write(this.#ends[0], first);
    this.#write(this.#ends[1], second);
    return this.#bytes.toString('latin1');
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
