// Tables for people: columns as wide as their widest cell, two blanks between them, nothing after the last one.

export interface Column<T> {
  readonly title: string;
  readonly cell: (item: T) => string;
  /** Shown by `-o wide` alone. */
  readonly isWide?: boolean;
  readonly isNumber?: boolean;
}

/** Widest cell, in columns of the terminal. */
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

const aligned = (cell: string, width: number, isNumber: boolean): string =>
  isNumber ? ' '.repeat(Math.max(0, width - widthOf(cell))) + cell : padTo(cell, width);

/** Makes one line of visible characters: what comes from a server must not move the cursor of a terminal. */
export function printable(text: string, whole = false): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g, ' ');
  return whole ? line : cutTo(line, cellMax);
}

/** Returns the text, or its beginning and `…` where it is wider than so many columns. */
export function cutTo(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let [kept, width] = ['', 0];
  for (const character of text) {
    width += widthOf(character);
    if (width >= columns) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Returns the text with blanks up to so many columns. */
export const padTo = (text: string, columns: number): string => text + ' '.repeat(Math.max(0, columns - widthOf(text)));

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}]/u;

/** Marks of the character before, and joiners. */
const isWithoutWidth = /[\p{M}\u200b-\u200d\u2060\ufeff]/u;

/** Columns that a text takes on a terminal. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += isWithoutWidth.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return width;
}
