// HPACK the slow and obvious way (RFC 7541): bits as text, tables as lists, whole blocks copied. What the decoder of the
// proxy is held against.
import { codeBits } from '../../src/proxy/http2/hpack/huffman.ts';
import { staticFields } from '../../src/proxy/http2/hpack/static-table.ts';

type Field = readonly [name: string, value: string];

/** Symbols by the bits of their code; 256 is EOS. */
const symbols = new Map<string, number>();
{
  const order = codeBits
    .map((bits, symbol) => ({ bits, symbol }))
    .sort((a, b) => a.bits - b.bits || a.symbol - b.symbol);
  let code = 0n;
  let length = order[0]?.bits ?? 0;
  for (const { bits, symbol } of order) {
    code <<= BigInt(bits - length);
    length = bits;
    symbols.set(code.toString(2).padStart(bits, '0'), symbol);
    code++;
  }
}
const codes = new Map([...symbols].map(([code, symbol]) => [symbol, code]));

class Fault extends Error {}

/** Largest number that a decoder has to take (RFC 7541 §5.1), and the bytes of one. */
const integerMax = 1 << 24;
const integerBytesMax = 4;

export class SlowHpack {
  readonly #bytesMax: number;
  #size: number;
  /** The newest first. */
  #table: Field[] = [];

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#size = bytesMax;
  }

  /** Undefined for a block that cannot be read. */
  decode(block: Buffer): Field[] | undefined {
    try {
      return this.#decode([...block]);
    } catch (error) {
      if (error instanceof Fault) return undefined;
      throw error;
    }
  }

  #decode(rest: number[]): Field[] {
    const fields: Field[] = [];
    let resizing = true;
    while (rest.length > 0) {
      const first = rest[0] ?? 0;
      if (first >> 5 === 1) {
        if (!resizing) throw new Fault('a late update');
        const size = integer(rest, 5);
        if (size > this.#bytesMax) throw new Fault('too large a table');
        this.#size = size;
        this.#evict(0);
        continue;
      }
      resizing = false;
      if (first >> 7 === 1) {
        fields.push(this.#entry(integer(rest, 7)));
        continue;
      }
      const kept = first >> 6 === 1;
      const index = integer(rest, kept ? 6 : 4);
      const name = index === 0 ? text(rest) : this.#entry(index)[0];
      const field: Field = [name, text(rest)];
      fields.push(field);
      if (!kept) continue;
      this.#evict(bytesOf(field));
      if (bytesOf(field) <= this.#size) this.#table.unshift(field);
    }
    return fields;
  }

  #entry(index: number): Field {
    const entry = [...staticFields, ...this.#table][index - 1];
    if (entry === undefined) throw new Fault('no such entry');
    return entry;
  }

  #evict(room: number): void {
    while (this.#table.length > 0 && this.#table.reduce((sum, field) => sum + bytesOf(field), room) > this.#size)
      this.#table.pop();
  }
}

const bytesOf = ([name, value]: Field): number => name.length + value.length + 32;

/** Takes it off the front. */
function integer(rest: number[], prefixBits: number): number {
  const prefixMax = 2 ** prefixBits - 1;
  let sum = (rest.shift() ?? 0) & prefixMax;
  if (sum < prefixMax) return sum;
  for (let i = 0; i < integerBytesMax; i++) {
    const byte = rest.shift();
    if (byte === undefined) break;
    sum += (byte & 127) * 128 ** i;
    if (sum > integerMax) break;
    if (byte < 128) return sum;
  }
  throw new Fault('an integer');
}

function text(rest: number[]): string {
  const first = rest[0];
  if (first === undefined) throw new Fault('no text');
  const length = integer(rest, 7);
  if (length > rest.length) throw new Fault('a long text');
  const bytes = rest.splice(0, length);
  if (first < 128) return Buffer.from(bytes).toString('latin1');
  let bits = '';
  let out = '';
  for (const bit of bytes.map((byte) => byte.toString(2).padStart(8, '0')).join('')) {
    bits += bit;
    const symbol = symbols.get(bits);
    if (symbol === undefined) continue;
    if (symbol === 256) throw new Fault('EOS');
    out += String.fromCharCode(symbol);
    bits = '';
  }
  if (bits.length > 7 || bits.includes('0')) throw new Fault('padding');
  return out;
}

/** A text in Huffman's code, with its length in front. */
export function huffmanText(value: string): Buffer {
  let bits = [...Buffer.from(value, 'latin1')].map((byte) => codes.get(byte)).join('');
  bits += '1'.repeat((8 - (bits.length % 8)) % 8);
  const bytes = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  return Buffer.concat([written(bytes.length, 7, 0x80), bytes]);
}

/** An integer behind the bits `flags` of its first byte (RFC 7541 §5.1). */
export function written(value: number, prefixBits: number, flags: number): Buffer {
  const prefixMax = 2 ** prefixBits - 1;
  if (value < prefixMax) return Buffer.from([flags | value]);
  const bytes = [flags | prefixMax];
  let rest = value - prefixMax;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}
