// Nearest of several known words, for messages about a misspelt one.

/** Returns the known word that differs by the fewest letters, at most two and fewer than half of them. */
export function nearestWord(word: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.min(2, Math.floor(word.length / 2)) + 1;
  for (const each of known) {
    if (Math.abs(each.length - word.length) >= least) continue;
    const found = distance(word, each);
    if (found < least) [best, least] = [each, found];
  }
  return best;
}

/** Returns the number of insertions, deletions and substitutions between two words (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let at = 1; at <= a.length; at++) {
    const next = [at];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (a[at - 1] === b[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
