// The rows that one apply round writes. A row changed twice in a round is written once, as it is at the end.

/** Content of a row, or the steps that make its bytes where it is long. */
export type RowContent = string | (() => Generator<void, Buffer>);

export interface RowText {
  /** Undefined: the row goes. */
  readonly text: RowContent | undefined;
  /** Index of the command that wrote it last. */
  readonly index: number;
  /**
   * True when no row had this key before. Set only where that is known: a new row that goes before the store has seen
   * it costs nothing there.
   */
  readonly isNew: boolean;
}

export class RoundRows {
  #rows = new Map<string, RowText>();

  put(key: string, text: RowContent, index: number, isNew = false): void {
    this.#rows.set(key, { text, index, isNew });
  }

  delete(key: string, index: number): void {
    this.#rows.set(key, { text: undefined, index, isNew: false });
  }

  /** Returns a function that brings the rows back as they are now. */
  savepoint(): () => void {
    const rows = new Map(this.#rows);
    return () => {
      this.#rows = rows;
    };
  }

  entries(): IterableIterator<[string, RowText]> {
    return this.#rows.entries();
  }
}
