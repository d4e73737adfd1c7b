// Allocator of rows: which row belongs to what. Main keeps one per kind of row: a key has the same row for as long as
// some configuration names it or some thread still counts in it, so what is known of it outlives activations
// (architecture.md §6.15).
import type { SharedRow, SharedRows } from './shared-rows.ts';

export class SlotAllocator {
  readonly #rows = new Map<string, number>();
  readonly #free: number[] = [];
  readonly #table: SharedRows;
  #next = 0;

  constructor(table: SharedRows) {
    this.#table = table;
  }

  /** The row of that key, a clean one if it has none yet. */
  rowOf(key: string): number {
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    const row = this.#free.pop() ?? this.#next++;
    this.#table.grow(row);
    this.#table.row(row, 0).clear();
    this.#rows.set(key, row);
    return row;
  }

  /** The row that the key has, if it has one. */
  find(key: string): number | undefined {
    return this.#rows.get(key);
  }

  /** Takes back the rows of all other keys, except those in which a thread still counts. */
  keep(keys: ReadonlySet<string>): void {
    for (const [key, row] of this.#rows) {
      if (keys.has(key) || this.#view(row).isUsed) continue;
      this.#rows.delete(key);
      this.#free.push(row);
    }
  }

  /** Every row given out, as main sees it, with its key. */
  *entries(): Generator<readonly [key: string, row: SharedRow]> {
    for (const [key, row] of this.#rows) yield [key, this.#view(row)];
  }

  #view(row: number): SharedRow {
    return this.#table.row(row, 0);
  }
}
