// Reads header blocks (RFC 7541). It never looks beyond the block, allocates by what is there and never by a length it
// was told, and knows a problem from a field: what is wrong with a field is the head's affair, what is wrong with the
// code leaves the two tables apart and ends the connection.
import { type FieldInfo, infoOfName, withValue } from '../field-rules.ts';
import { DynamicTable, type TableEntry } from './dynamic-table.ts';
import { decodedBytesMax, decodeHuffman } from './huffman.ts';
import { staticFields } from './static-table.ts';

/** Takes the fields of a block in order. */
export interface FieldSink {
  /** False: it wants no more. The block is not read to its end, and the tables of both sides differ from now on. */
  field(name: string, value: string, info: FieldInfo): unknown;
}

const entryOf = (name: string, value: string): TableEntry => {
  const bytes = Buffer.from(name + value, 'latin1');
  const info = withValue(infoOfName(name, bytes, 0, name.length), bytes, name.length, bytes.length);
  return { name, value, info };
};

const staticEntries: readonly TableEntry[] = staticFields.map(([name, value]) => entryOf(name, value));

/** No integer of HPACK that means anything here is larger. */
const integerMax = 1 << 24;

/** What is there ends within a field. */
const cutOff = 'the block ends within a field';

/** Texts in Huffman's code are decoded into these bytes, and used before the next one is. */
const decoded = Buffer.allocUnsafeSlow(8_192);

export class HpackDecoder {
  readonly #table: DynamicTable;
  readonly #tableBytesMax: number;
  #bytes: Buffer = decoded;
  #at = 0;
  #to = 0;
  #problem = '';
  /** No field has come in this block yet. */
  #first = true;
  /** The text read last: where it lies, and in what. */
  #text: Buffer = decoded;
  #textFrom = 0;
  #textTo = 0;

  constructor(tableBytesMax: number) {
    this.#tableBytesMax = tableBytesMax;
    this.#table = new DynamicTable(tableBytesMax);
  }

  /** A whole block lies at `bytes[from..to)`. Returns why it cannot be read, or an empty text. */
  decode(bytes: Buffer, from: number, to: number, sink: FieldSink): string {
    this.begin();
    const end = this.#read(bytes, from, to, sink, false);
    return this.#problem === '' && end < to ? cutOff : this.#problem;
  }

  /** A block begins that comes in parts. */
  begin(): void {
    this.#problem = '';
    this.#first = true;
  }

  /** Reads what is whole of a part; returns where the field begins that is not, or `to`. */
  decodePart(bytes: Buffer, from: number, to: number, sink: FieldSink): number {
    return this.#read(bytes, from, to, sink, true);
  }

  /** Why the block that has begun cannot be read; empty when it can, as far as it has come. */
  get problem(): string {
    return this.#problem;
  }

  #read(bytes: Buffer, from: number, to: number, sink: FieldSink, part: boolean): number {
    this.#bytes = bytes;
    this.#at = from;
    this.#to = to;
    while (this.#at < to && this.#problem === '') {
      const start = this.#at;
      const byte = bytes[start] ?? 0;
      if (byte >= 0x80) this.#indexed(sink);
      else if (byte < 0x20 || byte >= 0x40) this.#literal(byte >= 0x40 ? 6 : 4, byte >= 0x40, sink, part);
      else this.#resize();
      if (this.#endsWithinField()) return start;
      if (byte < 0x20 || byte >= 0x40) this.#first = false;
    }
    return this.#at;
  }

  /** What is not whole is no problem yet. */
  #endsWithinField(): boolean {
    if (this.#problem !== cutOff) return false;
    this.#problem = '';
    return true;
  }

  #indexed(sink: FieldSink): void {
    const entry = this.#entry(this.#integer(7));
    if (entry !== undefined) this.#give(sink, entry.name, entry.value, entry.info);
  }

  /** `part`: what is not whole is found to be so before any of it is decoded, for it may come in many parts. */
  #literal(prefixBits: number, kept: boolean, sink: FieldSink, part: boolean): void {
    if (part && !this.#literalIsWhole(prefixBits)) return;
    const index = this.#integer(prefixBits);
    let name: string;
    let nameInfo: FieldInfo;
    if (index === 0) {
      if (!this.#readText()) return;
      name = this.#text.toString('latin1', this.#textFrom, this.#textTo);
      nameInfo = infoOfName(name, this.#text, this.#textFrom, this.#textTo);
    } else {
      const entry = this.#entry(index);
      if (entry === undefined) return;
      name = entry.name;
      nameInfo = entry.info & 0xffff;
    }
    if (!this.#readText()) return;
    const info = withValue(nameInfo, this.#text, this.#textFrom, this.#textTo);
    const value = this.#text.toString('latin1', this.#textFrom, this.#textTo);
    if (kept) this.#table.add({ name, value, info });
    this.#give(sink, name, value, info);
  }

  #literalIsWhole(prefixBits: number): boolean {
    const start = this.#at;
    if (this.#integer(prefixBits) === 0) this.#skipText();
    this.#skipText();
    this.#at = start;
    return this.#problem === '';
  }

  #skipText(): void {
    if (this.#at >= this.#to) this.#problem ||= cutOff;
    if (this.#problem !== '') return;
    const length = this.#integer(7);
    this.#at += length;
    if (this.#at > this.#to) this.#problem ||= cutOff;
  }

  #give(sink: FieldSink, name: string, value: string, info: FieldInfo): void {
    if (sink.field(name, value, info) === false) this.#problem = 'the block is too large';
  }

  #resize(): void {
    if (!this.#first) this.#problem = 'the size of the table changes within a block';
    if (this.#problem !== '') return;
    const size = this.#integer(5);
    if (this.#problem !== '') return;
    if (size > this.#tableBytesMax) this.#problem = 'the table is larger than announced';
    else this.#table.resize(size);
  }

  #entry(index: number): TableEntry | undefined {
    if (this.#problem !== '') return undefined;
    const entry =
      index <= staticEntries.length ? staticEntries[index - 1] : this.#table.at(index - staticEntries.length);
    if (entry === undefined) this.#problem = 'no field has this index';
    return entry;
  }

  /** RFC 7541 §5.1. */
  #integer(prefixBits: number): number {
    const bytes = this.#bytes;
    const prefixMax = (1 << prefixBits) - 1;
    let sum = (bytes[this.#at++] ?? 0) & prefixMax;
    if (sum < prefixMax) return sum;
    let shift = 0;
    for (; this.#at < this.#to && shift <= 21 && sum <= integerMax; shift += 7) {
      const byte = bytes[this.#at++] ?? 0;
      sum += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80 && sum <= integerMax) return sum;
    }
    this.#problem = shift <= 21 && sum <= integerMax ? cutOff : 'invalid integer';
    return 0;
  }

  /** RFC 7541 §5.2. False when there is none. */
  #readText(): boolean {
    if (this.#at >= this.#to) this.#problem ||= cutOff;
    if (this.#problem !== '') return false;
    const huffman = (this.#bytes[this.#at] ?? 0) >= 0x80;
    const length = this.#integer(7);
    if (length > this.#to - this.#at) this.#problem ||= cutOff;
    if (this.#problem !== '') return false;
    const start = this.#at;
    this.#at += length;
    if (!huffman) {
      this.#text = this.#bytes;
      this.#textFrom = start;
      this.#textTo = this.#at;
      return true;
    }
    const needed = decodedBytesMax(length);
    this.#text = needed > decoded.length ? Buffer.allocUnsafe(needed) : decoded;
    this.#textFrom = 0;
    this.#textTo = decodeHuffman(this.#bytes, start, this.#at, this.#text);
    if (this.#textTo < 0) this.#problem = 'invalid Huffman code';
    return this.#textTo >= 0;
  }
}
