// Tables for people: columns as wide as their widest cell, two blanks between them, nothing after the last one.

export interface Column<T> {
  readonly title: string;
  readonly cell: (item: T) => string;
  /** Shown by `-o wide` alone. */
  readonly isWide?: boolean;
  readonly isNumber?: boolean;
}

/** Longest cell of a column that is not the last, in characters. */
const cellMax = 60;

export function table<T>(items: readonly T[], columns: readonly Column<T>[], { wide = false } = {}): string {
  const shown = columns.filter(({ isWide }) => wide || isWide !== true);
  const rows = items.map((item) => shown.map(({ cell }) => printable(cell(item), wide)));
  const all = [shown.map(({ title }) => title.toUpperCase()), ...rows];
  const widths = shown.map((_, at) => Math.max(...all.map((row) => widthOf(row[at] ?? ''))));
  const lines = all.map((row) =>
    row
      .map((cell, at) => aligned(cell, widths[at] ?? 0, shown[at]?.isNumber === true))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

function aligned(cell: string, width: number, isNumber: boolean): string {
  const blanks = ' '.repeat(Math.max(0, width - widthOf(cell)));
  return isNumber ? blanks + cell : cell + blanks;
}

/** Makes one line of visible characters: what comes from a server must not move the cursor of a terminal. */
export function printable(text: string, whole = false): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g, ' ');
  return whole || line.length <= cellMax ? line : `${line.slice(0, cellMax - 1)}…`;
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}]/u;

/** Columns that a text takes on a terminal. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += /\p{M}/u.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return width;
}
