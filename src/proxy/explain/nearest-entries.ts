// Nearest entries of a request that nothing matches: those whose path agrees and of which the fewest matchers fail, then
// those whose path is most alike.
import { isBoundTo } from '../match/candidate.ts';
import type { RankedEntry } from '../match/route-entry.ts';
import type { RoutedRequest } from '../message/routed-request.ts';
import { hostMatches } from '../target/host.ts';

const nearestMax = 5;
/** Entries of the table between two pauses. */
const stride = 256;
/** Characters of two paths that are compared. */
const comparedMax = 1_024;

/** @param agreeing entries whose path agrees */
export function* nearestEntries(
  entries: readonly RankedEntry[],
  agreeing: readonly RankedEntry[],
  request: RoutedRequest,
): Generator<void, readonly RankedEntry[]> {
  const failures = agreeing.map((entry) => [entry, -failuresOf(entry, request)] as const);
  const found = best(failures);
  if (found.length === nearestMax) return found;
  const known = new Set(agreeing);
  const path = request.path.slice(0, comparedMax);
  let alike: (readonly [entry: RankedEntry, score: number])[] = [];
  for (const [at, entry] of entries.entries()) {
    if (!known.has(entry)) alike.push([entry, likeness(entry.path.text.slice(0, comparedMax), path)]);
    if ((at + 1) % stride !== 0) continue;
    alike = sorted(alike).slice(0, nearestMax);
    yield;
  }
  return [...found, ...best(alike)].slice(0, nearestMax);
}

type Scored = readonly (readonly [entry: RankedEntry, score: number])[];

const sorted = (scored: Scored) => scored.toSorted(([, a], [, b]) => b - a);

const best = (scored: Scored): RankedEntry[] =>
  sorted(scored)
    .slice(0, nearestMax)
    .map(([entry]) => entry);

function failuresOf(entry: RankedEntry, request: RoutedRequest): number {
  const { hosts, matchers } = entry;
  const isForeign = hosts.length > 0 && !hosts.some((pattern) => hostMatches(pattern, request.host));
  return (
    Number(!isBoundTo(entry, request.section)) +
    Number(isForeign) +
    matchers.filter((matcher) => !matcher.test(request)).length
  );
}

/** Share of the characters that two texts have in common at their beginnings and ends: 1 for the same text. */
function likeness(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a.charCodeAt(head) === b.charCodeAt(head)) head++;
  let tail = 0;
  while (tail < shorter - head && a.charCodeAt(a.length - 1 - tail) === b.charCodeAt(b.length - 1 - tail)) tail++;
  return (head + tail) / Math.max(1, a.length, b.length);
}
