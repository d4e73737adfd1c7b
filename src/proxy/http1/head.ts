// The field lines of one message, as positions in its text: no object is made per line, and nothing refers to the bytes
// that arrived, for they are overwritten. One Head belongs to a connection and is filled again for each message.

import type { FieldLines } from '../fields/field-lines.ts';
import { type FieldId, fieldId, identify } from '../fields/field-name.ts';
import { arrived, arrivedWords } from '../socket/byte-socket.ts';
import { CR } from './characters.ts';

/** Positions kept per line, from where the first begins: where the name starts and ends, where the value starts and ends. */
const stride = 4;

/** A head on its way on, and what it depends on beside the head that came. */
export interface PassedOn {
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
  /** Some value has more around it than the one blank after its colon: its line is not to travel as it came. */
  padded = false;
  /** The whole head, start line and final empty line included; Latin-1, a byte per character. Empty until it is whole. */
  text = '';
  /** It is the head before, byte for byte: whatever follows from its bytes alone holds again. */
  repeated = false;
  // Plain arrays, which grow as lines come: a typed one lies outside the heap and costs a new connection more than all
  // that its first request needs of it.
  readonly #at: number[] = [];
  readonly #ids: FieldId[] = [];
  /** Where the first line begins in `text`. */
  #start = 0;
  /** The last whole head; empty when other lines were read since. */
  #whole = '';
  /** The same four bytes at a time, as far as they go; empty until it has repeated. */
  #words: number[] = [];
  /** The field lines of the last whole head, final empty line included; empty when others were read since. */
  #fields = '';
  #found = { count: 0, fieldBytes: 0, padded: false };
  /** What is left of those lines by a table of names, and that table. */
  #kept = '';
  #keptBy: Uint8Array | undefined;
  /** What it became on its way on, last time. */
  #passedOn: PassedOn | undefined;

  clear(): void {
    this.count = 0;
    this.fieldBytes = 0;
    this.padded = false;
    this.text = '';
    this.repeated = false;
  }

  /** How long the last whole head was; 0: it is not known any more. */
  get wholeLength(): number {
    return this.#whole.length;
  }

  /** How long the fields of the last whole head were, final empty line included; 0: they are not known any more. */
  get fieldsLength(): number {
    return this.#fields.length;
  }

  /** Other lines than those of the last head are about to be read. */
  forget(): void {
    this.#keepWhole('');
    this.#fields = '';
    this.#keptBy = undefined;
    this.#passedOn = undefined;
  }

  /** The head is whole, and its fields begin at `start`. */
  finish(text: string, start: number): void {
    this.text = text;
    this.#keepWhole(text);
    this.#start = start;
    this.#fields = text.slice(start);
    const found = this.#found;
    found.count = this.count;
    found.fieldBytes = this.fieldBytes;
    found.padded = this.padded;
  }

  /**
   * Takes over `text` if its fields, which begin at `start`, are those of the last whole head, as they mostly are on one
   * connection: what was found in them still holds.
   */
  repeat(text: string, start: number): boolean {
    if (text.slice(start) !== this.#fields) return false;
    this.#keepWhole(text);
    this.#passedOn = undefined;
    this.#start = start;
    this.#takeFound();
    return true;
  }

  /** Takes the last whole head again if the bytes from there on are the same, of which there are enough. */
  repeatWhole(bytes: Buffer, from: number): boolean {
    const same = bytes === arrived && from === 0 ? this.#hasArrived() : this.#isAt(bytes, from);
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

  /** Most heads arrive alone, at the beginning of `arrived`. To compare those takes no text, which would be made for nothing else. */
  #hasArrived(): boolean {
    const words = this.#words;
    if (words.length === 0) {
      if (!this.#isAt(arrived, 0)) return false;
      for (let i = 0; 4 * i + 4 <= this.#whole.length; i++) words.push(arrivedWords[i] ?? 0);
      return true;
    }
    const { length } = words;
    for (let i = 0; i < length; i++) if (words[i] !== arrivedWords[i]) return false;
    for (let i = 4 * length; i < this.#whole.length; i++) if (this.#whole.charCodeAt(i) !== arrived[i]) return false;
    return true;
  }

  #takeFound(): void {
    this.text = this.#whole;
    const { count, fieldBytes, padded } = this.#found;
    this.count = count;
    this.fieldBytes = fieldBytes;
    this.padded = padded;
  }

  /** The lines that stay by the table, if somebody has remembered them. */
  keptBy(table: Uint8Array): string | undefined {
    return this.#keptBy === table ? this.#kept : undefined;
  }

  /** `kept` are the lines that stay by the table, for as long as the fields are the same. */
  rememberKept(table: Uint8Array, kept: string): void {
    this.#keptBy = table;
    this.#kept = kept;
  }

  /** What the same head became before, for whoever finds that nothing else which counts has changed. */
  get passedOn(): PassedOn | undefined {
    return this.repeated ? this.#passedOn : undefined;
  }

  /** Only a head that repeats is remembered so: of others there is no use. */
  rememberPassedOn(passedOn: PassedOn): void {
    if (this.repeated) this.#passedOn = passedOn;
  }

  /** The first field line begins at `start` of the bytes; all other positions count from there. */
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
    this.#ids[i] = identify(bytes, start + nameStart, start + nameEnd);
    this.fieldBytes += nameEnd - nameStart + valueEnd - valueStart;
  }

  /** One of `fieldId`. */
  id(line: number): FieldId {
    return this.#ids[line] ?? fieldId.other;
  }

  name(line: number): string {
    return this.#part(line * stride);
  }

  value(line: number): string {
    return this.#part(line * stride + 2);
  }

  /** Where the line begins in `text`. */
  lineStart(line: number): number {
    return this.#start + (this.#at[line * stride] ?? 0);
  }

  /** The first line with this id, or −1. */
  find(id: number): number {
    for (let i = 0; i < this.count; i++) if (this.#ids[i] === id) return i;
    return -1;
  }

  /** Value of the first line of that name, given in lower case; undefined when there is none. */
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

  /** Bytes of a part of the head, positions counted from its beginning. */
  slice(start: number, end: number): string {
    return this.text.slice(start, end);
  }

  /** Between a position and the one after it. */
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
