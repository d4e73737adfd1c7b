// Header names as `copyToUpstream`, `allowedMutations` and the like spell them (contract.md §8.0): exact, or the start
// of one followed by `*`; case does not count.

/** Test whether a name, given in lower case, matches the patterns. */
export type NameTest = (lowerName: string) => boolean;

export function compileNamePatterns(patterns: readonly string[]): NameTest {
  const exact = new Set<string>();
  const prefixes: string[] = [];
  for (const pattern of patterns) {
    const lower = pattern.toLowerCase();
    if (lower.endsWith('*')) prefixes.push(lower.slice(0, -1));
    else exact.add(lower);
  }
  if (prefixes.length === 0) return (lowerName) => exact.has(lowerName);
  return (lowerName) => exact.has(lowerName) || prefixes.some((prefix) => lowerName.startsWith(prefix));
}
