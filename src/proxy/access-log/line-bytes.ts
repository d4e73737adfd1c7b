// Memory that lines of an access log are written into, piece by piece and in UTF-8. Gathered as text, a line would be a rope of
// fifty pieces that has to be put together again, and each value would have to be asked by an expression whether it is harmless.
import { uuidInto } from './uuid-bytes.ts';

/** Returns the replacement for a text that cannot stand in a line as it is. */
export type Shown = (text: string) => string;

/** Maximum number of UTF-8 bytes of one UTF-16 unit. */
const utf8BytesMax = 3;
/** Longer texts, in units, are written by the engine in one call and looked at afterwards; which does not pay for short ones. */
const shortMax = 32;
const leastBytes = 4_096;
const uuidLength = 36;
const countLength = 10;
const zero = 48;
const none: Buffer = Buffer.alloc(0);

/** 1 for what stands in a line of any form as it is: printable ASCII without quotes and backslashes. */
const isHarmless: Uint8Array = Uint8Array.from({ length: 256 }, (_, code) =>
  code >= 0x20 && code < 0x7f && code !== 0x22 && code !== 0x5c ? 1 : 0,
);

/** 1 for what a value without quotes cannot hold: blanks, `=`, quotes, backslashes, and what is beyond ASCII, blanks among it. */
const isQuoted: Uint8Array = Uint8Array.from({ length: 256 }, (_, code) =>
  code <= 0x20 || code >= 0x7f || code === 0x22 || code === 0x3d || code === 0x5c ? 1 : 0,
);

/** Returns whether a value of a `key=value` line stands in quotes. */
export const needsQuotes = (value: string): boolean => Buffer.from(value).some((byte) => isQuoted[byte] === 1);

const quote = 0x22;

export class LineBytes {
  #bytes: Buffer = none;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Forgets what was written behind it. */
  cutTo(length: number): void {
    this.#length = length;
  }

  /** A copy of all of it, in memory of its own; empty afterwards, with at most `keptMax` bytes of memory kept. */
  take(keptMax: number): Uint8Array<ArrayBuffer> {
    const taken = Uint8Array.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    if (this.#bytes.length > keptMax) this.#bytes = none;
    return taken;
  }

  /** As it is. */
  constant(bytes: Uint8Array): void {
    const count = bytes.length;
    this.#reserve(count);
    const target = this.#bytes;
    let at = this.#length;
    for (let i = 0; i < count; i++) target[at++] = bytes[i] ?? 0;
    this.#length = at;
  }

  /**
   * Writes an untrusted value. `shown` is called for one that is not printable ASCII, or has a quote or a backslash.
   */
  text(value: string, shown: Shown): void {
    const before = this.#length;
    const count = value.length;
    if (count > shortMax) {
      this.written(value);
      if (!this.#harmlessFrom(before)) this.#escaped(before, value, shown);
      return;
    }
    this.#reserve(count);
    const target = this.#bytes;
    let at = before;
    for (let i = 0; i < count; i++) {
      const code = value.charCodeAt(i);
      if (code > 255 || isHarmless[code] === 0) {
        this.#escaped(before, value, shown);
        return;
      }
      target[at++] = code;
    }
    this.#length = at;
  }

  /** As it is, in UTF-8. */
  written(text: string): void {
    this.#reserve(text.length * utf8BytesMax);
    this.#length += this.#bytes.write(text, this.#length, 'utf8');
  }

  /** A whole number that is not negative. */
  count(value: number): void {
    if (value > 0x7fff_ffff) {
      this.written(String(value));
      return;
    }
    this.#reserve(countLength);
    let rest = value | 0;
    let digits = 1;
    for (let beyond = 10; beyond <= rest; beyond *= 10) digits++;
    const target = this.#bytes;
    const end = this.#length + digits;
    for (let at = end - 1; at >= this.#length; at--) {
      const tenth = (rest / 10) | 0;
      target[at] = zero + rest - tenth * 10;
      rest = tenth;
    }
    this.#length = end;
  }

  /** A random one. */
  uuid(): void {
    this.#reserve(uuidLength);
    uuidInto(this.#bytes, this.#length);
    this.#length += uuidLength;
  }

  /** Puts what was written from `start` on in quotes, where it needs them. */
  quoteFrom(start: number): void {
    const end = this.#length;
    let at = start;
    while (at < end && isQuoted[this.#bytes[at] ?? 0] === 0) at++;
    if (at === end) return;
    this.#reserve(2);
    const bytes = this.#bytes;
    bytes.copyWithin(start + 1, start, end);
    bytes[start] = quote;
    bytes[end + 1] = quote;
    this.#length = end + 2;
  }

  #escaped(before: number, value: string, shown: Shown): void {
    this.#length = before;
    this.written(shown(value));
  }

  #harmlessFrom(start: number): boolean {
    const bytes = this.#bytes;
    const end = this.#length;
    for (let at = start; at < end; at++) if (isHarmless[bytes[at] ?? 0] === 0) return false;
    return true;
  }

  #reserve(count: number): void {
    const length = this.#length + count;
    if (length <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(leastBytes, length * 2));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
