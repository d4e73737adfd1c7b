// HPACK encoder (RFC 7541) without a dynamic table: a block means the same at any time and on any connection, a
// stream may end before its block is sent, and no connection holds values that an attacker could guess. Each text is
// sent without Huffman code and marked as never indexed, as RFC 7541 §7.1.3 asks of intermediaries for marked fields.
import { staticNames } from './static-table.ts';

/** First bytes of a literal, by its name as sent, in any case. */
const literalNames = new Map<string, Uint8Array>();
/** Size of that cache; names come from outside, and further ones are encoded each time. */
const literalNamesMax = 1_024;

const indexedStatus: Readonly<Record<number, number>> = {
  200: 0x88,
  204: 0x89,
  206: 0x8a,
  304: 0x8b,
  400: 0x8c,
  404: 0x8d,
  500: 0x8e,
};

export class HpackEncoder {
  /** Buffer whose `[0..length)` is the block so far; it changes with the next `begin`. */
  bytes: Buffer = Buffer.allocUnsafeSlow(16 * 1024);
  length = 0;

  begin(): void {
    this.length = 0;
  }

  status(status: number): void {
    const indexed = indexedStatus[status];
    if (indexed !== undefined) this.#byte(indexed);
    else this.#literal(staticBytes(':status'), String(status));
  }

  request(method: string, scheme: string, authority: string, path: string): void {
    if (method === 'GET') this.#byte(0x82);
    else if (method === 'POST') this.#byte(0x83);
    else this.#literal(staticBytes(':method'), method);
    if (scheme !== '') this.#byte(scheme === 'https' ? 0x87 : 0x86);
    if (authority !== '') this.#literal(staticBytes(':authority'), authority);
    if (path === '/') this.#byte(0x84);
    else if (path !== '') this.#literal(staticBytes(':path'), path);
  }

  /** Writes `:protocol`, the protocol of an extended CONNECT (RFC 8441). */
  protocol(protocol: string): void {
    this.field(':protocol', protocol);
  }

  /** Copies an encoded block: blocks mean the same on any connection. */
  block(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Writes a field. Texts are byte strings; the name may be in any case. */
  field(name: string, value: string): void {
    let start = literalNames.get(name);
    if (start === undefined) {
      start = beginning(name.toLowerCase());
      if (literalNames.size < literalNamesMax) literalNames.set(name, start);
    }
    this.#literal(start, value);
  }

  #byte(byte: number): void {
    this.#reserve(1);
    this.bytes[this.length++] = byte;
  }

  #literal(start: Uint8Array, value: string): void {
    const { length } = value;
    this.#reserve(start.length + 5 + length);
    const { bytes } = this;
    let at = this.length;
    for (let i = 0; i < start.length; i++) bytes[at++] = start[i] ?? 0;
    at = writeLength(bytes, at, length);
    if (length < 40) for (let i = 0; i < length; i++) bytes[at++] = value.charCodeAt(i);
    else at += bytes.write(value, at, length, 'latin1');
    this.length = at;
  }

  #reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow((this.length + count) * 2);
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }
}

/** Writes a length in 7 bits, without the flag of the Huffman code. */
function writeLength(bytes: Uint8Array, start: number, length: number): number {
  let at = start;
  if (length < 127) {
    bytes[at++] = length;
    return at;
  }
  bytes[at++] = 127;
  let rest = length - 127;
  for (; rest >= 128; rest >>>= 7) bytes[at++] = (rest & 127) | 128;
  bytes[at++] = rest;
  return at;
}

const neverIndexed = 0x10;

function beginning(lowerName: string): Uint8Array {
  const index = staticNames.get(lowerName);
  if (index !== undefined) {
    return Uint8Array.from(index < 15 ? [neverIndexed | index] : [neverIndexed | 15, index - 15]);
  }
  const bytes = new Uint8Array(lowerName.length + 6);
  bytes[0] = neverIndexed;
  const at = writeLength(bytes, 1, lowerName.length);
  bytes.set(Buffer.from(lowerName, 'latin1'), at);
  return bytes.subarray(0, at + lowerName.length);
}

function staticBytes(name: string): Uint8Array {
  let start = literalNames.get(name);
  if (start === undefined) {
    start = beginning(name);
    literalNames.set(name, start);
  }
  return start;
}

/** Encoder of this thread: a block is copied as soon as it is made. */
export const encoder = new HpackEncoder();
