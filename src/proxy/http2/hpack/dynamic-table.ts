// Dynamic table of a decoder (RFC 7541 §2.3.2, §4): newest entries first, and never more bytes than announced. An
// entry keeps the result of the field's checks, so that a repeated field costs nothing.
import type { FieldInfo } from '../field-rules.ts';

export interface TableEntry {
  readonly name: string;
  readonly value: string;
  readonly info: FieldInfo;
}

/** Bytes that an entry counts beyond its texts (RFC 7541 §4.1). */
const entryOverhead = 32;

export class DynamicTable {
  /** Ring of entries; the newest lies before `#next`. */
  readonly #entries: (TableEntry | undefined)[];
  #next = 0;
  #count = 0;
  #bytes = 0;
  #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#entries = new Array(Math.max(1, Math.floor(bytesMax / entryOverhead)));
  }

  get count(): number {
    return this.#count;
  }

  /** Returns the entry at a place; 1 is the newest. */
  at(place: number): TableEntry | undefined {
    if (place < 1 || place > this.#count) return undefined;
    const size = this.#entries.length;
    return this.#entries[(this.#next - place + size) % size];
  }

  /** Adds an entry. One larger than the table empties the table and is not kept. */
  add(entry: TableEntry): void {
    const bytes = bytesOf(entry);
    this.#shrinkTo(this.#bytesMax - bytes);
    if (bytes > this.#bytesMax) return;
    this.#entries[this.#next] = entry;
    this.#next = (this.#next + 1) % this.#entries.length;
    this.#count++;
    this.#bytes += bytes;
  }

  /** Changes the size, up to the size that the table was made with. */
  resize(bytesMax: number): void {
    this.#bytesMax = bytesMax;
    this.#shrinkTo(bytesMax);
  }

  #shrinkTo(bytesMax: number): void {
    const size = this.#entries.length;
    while (this.#count > 0 && this.#bytes > bytesMax) {
      const oldest = (this.#next - this.#count + size) % size;
      const entry = this.#entries[oldest];
      if (entry !== undefined) this.#bytes -= bytesOf(entry);
      this.#entries[oldest] = undefined;
      this.#count--;
    }
  }
}

const bytesOf = ({ name, value }: TableEntry): number => name.length + value.length + entryOverhead;
