// Warning headers of successful answers.

export interface Warnings {
  readonly Warning?: readonly string[];
}

/** One `299` line per text, each printable. */
export const warnings = (texts: readonly string[]): Warnings =>
  texts.length === 0 ? {} : { Warning: texts.map((text) => `299 sluice "${text}"`) };

export const joined = (first: Warnings, second: Warnings): Warnings => {
  const all = [...(first.Warning ?? []), ...(second.Warning ?? [])];
  return all.length === 0 ? {} : { Warning: all };
};

const linesMax = 20;
/** Limit of one list in characters. Many clients read no longer head than 16 KiB, and an answer may have three lists. */
const lengthMax = 3 * 1024;

/** Returns the first texts, as many as a head has room for, and behind them the number of those left out. */
export function firstOf<T>(
  items: readonly T[],
  textOf: (item: T) => string,
  leftOut: (count: number) => string,
): string[] {
  const texts: string[] = [];
  let length = 0;
  for (const text of items.slice(0, linesMax).map(textOf)) {
    length += text.length;
    if (texts.length > 0 && length > lengthMax) break;
    texts.push(text);
  }
  if (items.length > texts.length) texts.push(leftOut(items.length - texts.length));
  return texts;
}

const longest = 256;

/**
 * Encodes a text for a quoted string of RFC 9110 §5.6.4 without escapes: characters that could end it, are not ASCII, or are
 * in `more`, are percent-encoded. Truncates it after 256 characters.
 */
export function printable(text: string, more = ''): string {
  const cut = text.length > longest ? `${text.slice(0, longest)}...` : text;
  const isPlain = (character: string): boolean => /[\x20-\x7e]/.test(character) && !`"\\%${more}`.includes(character);
  return [...cut].map((character) => (isPlain(character) ? character : encoded(character))).join('');
}

const encoded = (character: string): string =>
  [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
