// HPACK decoder (RFC 7541). Never reads beyond the block, and allocates by received bytes and never by an announced
// length. Distinguishes errors of a field, which the head's checks report, from errors of the coding, after which the
// tables of the two sides differ and the connection ends.
import { type FieldInfo, infoOfName, withValue } from '../field-rules.ts';
import { DynamicTable, type TableEntry } from './dynamic-table.ts';
import { decodedBytesMax, decodeHuffman } from './huffman.ts';
import { staticFields } from './static-table.ts';

/** Sink of the fields of a block, in their order. */
export interface FieldSink {
  /**
   * Takes a field. Returning false stops the decoder: the block is not read to its end, and the tables of both sides
   * differ from then on.
   */
  field(name: string, value: string, info: FieldInfo): unknown;
}

const entryOf = (name: string, value: string): TableEntry => {
  const bytes = Buffer.from(name + value, 'latin1');
  const info = withValue(infoOfName(name, bytes, 0, name.length), bytes, name.length, bytes.length);
  return { name, value, info };
};

const staticEntries: readonly TableEntry[] = staticFields.map(([name, value]) => entryOf(name, value));

/** Largest integer that has a meaning in HPACK here. */
const integerMax = 1 << 24;

/** Problem of a block that ends within a field. */
const cutOff = 'the block ends within a field';

/** Buffer for decoded Huffman texts; each is used before the next one is decoded. */
const decoded = Buffer.allocUnsafeSlow(8_192);

export class HpackDecoder {
  readonly #table: DynamicTable;
  readonly #tableBytesMax: number;
  #bytes: Buffer = decoded;
  #at = 0;
  #to = 0;
  #problem = '';
  /** True until the first field of the block. */
  #first = true;
  /** Buffer of the text read last. */
  #text: Buffer = decoded;
  #textFrom = 0;
  #textTo = 0;

  constructor(tableBytesMax: number) {
    this.#tableBytesMax = tableBytesMax;
    this.#table = new DynamicTable(tableBytesMax);
  }

  /** Decodes the whole block `bytes[from..to)`. Returns the reason why it cannot be read, or an empty text. */
  decode(bytes: Buffer, from: number, to: number, sink: FieldSink): string {
    this.begin();
    const end = this.#read(bytes, from, to, sink, false);
    return this.#problem === '' && end < to ? cutOff : this.#problem;
  }

  /** Begins a block that arrives in parts. */
  begin(): void {
    this.#problem = '';
    this.#first = true;
  }

  /** Decodes the whole fields of a part; returns the start of the field that is not whole, or `to`. */
  decodePart(bytes: Buffer, from: number, to: number, sink: FieldSink): number {
    return this.#read(bytes, from, to, sink, true);
  }

  /** Reason why the begun block cannot be read; empty while it can. */
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

  /** Returns whether the bytes end within a field, which is no error while more can arrive. */
  #endsWithinField(): boolean {
    if (this.#problem !== cutOff) return false;
    this.#problem = '';
    return true;
  }

  #indexed(sink: FieldSink): void {
    const entry = this.#entry(this.#integer(7));
    if (entry !== undefined) this.#give(sink, entry.name, entry.value, entry.info);
  }

  /**
   * Reads a literal. `part`: an incomplete field is recognized before any of it is decoded, for it may arrive in many
   * parts.
   */
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

  /** Reads an integer (RFC 7541 §5.1). */
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

  /** Reads a string (RFC 7541 §5.2). Returns false when there is none. */
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
