// How long to wait before a retry (contract.md §7.4), and which outcomes are worth one.

/** Milliseconds before retry `n`, counted from 1: in the upper half of a span that doubles up to `maxMs`. */
export function backoffMs(n: number, baseMs: number, maxMs: number, random: () => number): number {
  const span = Math.min(baseMs * 2 ** (n - 1), maxMs);
  return span / 2 + (random() * span) / 2;
}
