// Collections of very many, in parts: one of V8's moves all it holds whenever it grows, which takes 20 ms at a hundred
// thousand and holds the thread; a part of them has 2,000 to move.

/** How many parts a collection has. */
export const parts = 64;

/** Which part a key belongs to. Ids and names that are alike mostly differ in their last characters. */
export function partOf(key: string): number {
  const last = key.length - 1;
  // What is not there is NaN, and counts as 0.
  const sum = (key.charCodeAt(last) | 0) + 7 * (key.charCodeAt(last - 1) | 0) + 31 * (key.charCodeAt(last - 2) | 0);
  return sum % parts;
}
