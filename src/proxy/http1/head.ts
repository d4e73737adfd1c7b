// Field lines of one message, as positions in its text: no object is made per line, and nothing refers to the
// received bytes, which are overwritten. A Head belongs to a connection and is filled again for each message.

import type { FieldLines } from '../fields/field-lines.ts';
import { type FieldId, fieldId, identify } from '../fields/field-name.ts';
import { sharedReadBuffer, sharedReadWords } from '../socket/byte-socket.ts';
import { CR } from './characters.ts';

/** Positions kept per line, from the start of the first: start and end of the name, start and end of the value. */
const stride = 4;

/** Serialized head towards the upstream, with its inputs beside the received head. */
export interface SerializedHead {
  readonly text: string;
  readonly target: string;
  readonly host: string;
  readonly sender: object;
}

export class Head implements FieldLines {
  /** Number of field lines. */
  count = 0;
  /** Sum of the lengths of all names and values. */
  fieldBytes = 0;
  /**
   * True when a value has more blanks around it than the one after its colon: its line is not copied as it arrived.
   */
  padded = false;
  hasDate = false;
  /** Whole head, start line and final empty line included; Latin-1, a byte per character. Empty until it is whole. */
  text = '';
  /** True when the head equals the previous one, byte for byte: all that follows from its bytes alone holds again. */
  repeated = false;
  // Plain arrays, which grow as lines come: a typed array lies outside the heap and costs a new connection more than
  // everything its first request needs of it.
  readonly #at: number[] = [];
  readonly #ids: FieldId[] = [];
  /** Start of the first line in `text`. */
  #start = 0;
  /** Last whole head; empty when other lines were read since. */
  #whole = '';
  /** The same head as 32-bit words, the last incomplete one left out; empty until the head has repeated. */
  #words: number[] = [];
  /** Field lines of the last whole head, final empty line included; empty when others were read since. */
  #fields = '';
  #found = { count: 0, fieldBytes: 0, padded: false, hasDate: false };
  /** Cached lines that a table keeps, and that table. */
  #kept = '';
  #keptBy: Uint8Array | undefined;
  /** Cached result of the last serialization. */
  #serialized: SerializedHead | undefined;

  clear(): void {
    this.count = 0;
    this.fieldBytes = 0;
    this.padded = false;
    this.hasDate = false;
    this.text = '';
    this.repeated = false;
  }

  /** Length of the last whole head; 0: unknown. */
  get wholeLength(): number {
    return this.#whole.length;
  }

  /** Length of the fields of the last whole head, final empty line included; 0: unknown. */
  get fieldsLength(): number {
    return this.#fields.length;
  }

  /** Forgets the last head: other lines are about to be read. */
  forget(): void {
    this.#keepWhole('');
    this.#fields = '';
    this.#keptBy = undefined;
    this.#serialized = undefined;
  }

  /** Stores the whole head, whose fields begin at `start`. */
  finish(text: string, start: number): void {
    this.text = text;
    this.#keepWhole(text);
    this.#start = start;
    this.#fields = text.slice(start);
    const found = this.#found;
    found.count = this.count;
    found.fieldBytes = this.fieldBytes;
    found.padded = this.padded;
    found.hasDate = this.hasDate;
  }

  /**
   * Takes over `text` if its fields, which begin at `start`, equal those of the last whole head, as they mostly do on
   * one connection: the results of their parsing still hold.
   */
  repeat(text: string, start: number): boolean {
    if (text.slice(start) !== this.#fields) return false;
    this.#keepWhole(text);
    this.#serialized = undefined;
    this.#start = start;
    this.#takeFound();
    return true;
  }

  /**
   * Takes the last whole head again if the bytes at `from` equal it; the caller has checked that there are enough.
   */
  repeatWhole(bytes: Buffer, from: number): boolean {
    const same = bytes === sharedReadBuffer && from === 0 ? this.#hasArrived() : this.#isAt(bytes, from);
    if (!same) return false;
    this.repeated = true;
    this.#takeFound();
    return true;
  }

  #keepWhole(text: string): void {
    this.#whole = text;
    this.#words.length = 0;
  }

  #isAt(bytes: Buffer, from: number): boolean {
    return bytes.toString('latin1', from, from + this.#whole.length) === this.#whole;
  }

  /**
   * Compares the last head with the beginning of the shared read buffer, where most heads arrive. That comparison
   * makes no text, which would be garbage.
   */
  #hasArrived(): boolean {
    const words = this.#words;
    if (words.length === 0) {
      if (!this.#isAt(sharedReadBuffer, 0)) return false;
      for (let i = 0; 4 * i + 4 <= this.#whole.length; i++) words.push(sharedReadWords[i] ?? 0);
      return true;
    }
    const { length } = words;
    for (let i = 0; i < length; i++) if (words[i] !== sharedReadWords[i]) return false;
    for (let i = 4 * length; i < this.#whole.length; i++)
      if (this.#whole.charCodeAt(i) !== sharedReadBuffer[i]) return false;
    return true;
  }

  #takeFound(): void {
    this.text = this.#whole;
    const { count, fieldBytes, padded, hasDate } = this.#found;
    this.count = count;
    this.fieldBytes = fieldBytes;
    this.padded = padded;
    this.hasDate = hasDate;
  }

  /** Returns the lines that the table keeps, if they are cached. */
  keptBy(table: Uint8Array): string | undefined {
    return this.#keptBy === table ? this.#kept : undefined;
  }

  /** Caches the lines that the table keeps, until the fields change. */
  cacheKept(table: Uint8Array, kept: string): void {
    this.#keptBy = table;
    this.#kept = kept;
  }

  /** Serialization of the same head, for a caller that has checked the other inputs. */
  get serialized(): SerializedHead | undefined {
    return this.repeated ? this.#serialized : undefined;
  }

  /** Caches a serialization of a head that repeats; for other heads it would be of no use. */
  cacheSerialized(serialized: SerializedHead): void {
    if (this.repeated) this.#serialized = serialized;
  }

  /** Adds a line. The first field line begins at `start` of the bytes; all other positions count from there. */
  addLine(
    bytes: Buffer,
    start: number,
    nameStart: number,
    nameEnd: number,
    valueStart: number,
    valueEnd: number,
  ): void {
    if (valueStart > nameEnd + 2 || bytes[start + valueEnd] !== CR) this.padded = true;
    const i = this.count++;
    const at = i * stride;
    this.#at[at] = nameStart;
    this.#at[at + 1] = nameEnd;
    this.#at[at + 2] = valueStart;
    this.#at[at + 3] = valueEnd;
    const id = identify(bytes, start + nameStart, start + nameEnd);
    this.#ids[i] = id;
    if (id === fieldId.date) this.hasDate = true;
    this.fieldBytes += nameEnd - nameStart + valueEnd - valueStart;
  }

  /** Returns the `fieldId` of a line. */
  id(line: number): FieldId {
    return this.#ids[line] ?? fieldId.other;
  }

  name(line: number): string {
    return this.#part(line * stride);
  }

  value(line: number): string {
    return this.#part(line * stride + 2);
  }

  /** Returns the start of the line in `text`. */
  lineStart(line: number): number {
    return this.#start + (this.#at[line * stride] ?? 0);
  }

  /** Returns the first line with this id, or −1. */
  find(id: number): number {
    for (let i = 0; i < this.count; i++) if (this.#ids[i] === id) return i;
    return -1;
  }

  /** Returns the value of the first line of that name, given in lower case; undefined when there is none. */
  first(lowerName: string): string | undefined {
    const line = this.lineOf(lowerName, 0);
    return line < 0 ? undefined : this.value(line);
  }

  lineOf(lowerName: string, from: number): number {
    for (let i = from; i < this.count; i++) {
      const start = this.#at[i * stride] ?? 0;
      const end = this.#at[i * stride + 1] ?? 0;
      if (end - start === lowerName.length && this.#nameIs(this.#start + start, lowerName)) return i;
    }
    return -1;
  }

  /** Returns a part of the head as text, positions counted from its beginning. */
  slice(start: number, end: number): string {
    return this.text.slice(start, end);
  }

  /** Returns the text between a position and the one after it. */
  #part(place: number): string {
    return this.text.slice(this.#start + (this.#at[place] ?? 0), this.#start + (this.#at[place + 1] ?? 0));
  }

  #nameIs(start: number, lowerName: string): boolean {
    for (let i = 0; i < lowerName.length; i++) {
      const byte = this.text.charCodeAt(start + i);
      const lower = byte >= 65 && byte <= 90 ? byte | 0x20 : byte;
      if (lower !== lowerName.charCodeAt(i)) return false;
    }
    return true;
  }
}
