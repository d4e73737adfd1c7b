// Texts in flat arrays, two UTF-16 units in a word: what is compared lies beside what is wanted of it.

/** Words that a text of this length takes. */
export const wordsOf = (length: number): number => (length + 1) >> 1;

export function packText(words: Int32Array, at: number, text: string): void {
  for (let i = 0; i < text.length; i += 2) words[at + (i >> 1)] = unitsAt(text, i, text.length);
}

/** Returns whether the text packed at `at`, which is `end - start` units long, is that part of `text`. */
export function isPacked(words: Int32Array, at: number, text: string, start: number, end: number): boolean {
  let word = at;
  for (let i = start; i < end; i += 2) if (words[word++] !== unitsAt(text, i, end)) return false;
  return true;
}

/** Beyond the end there is nothing. */
const unitsAt = (text: string, i: number, end: number): number =>
  text.charCodeAt(i) | (i + 1 < end ? text.charCodeAt(i + 1) << 16 : 0);
