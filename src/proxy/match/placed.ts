// Entries with their places, and the first of a list that a request agrees with.
import type { Entry } from '../compile/entry.ts';
import type { RoutedRequest } from '../request-head.ts';

/** An entry and its place in the total order of contract.md §6.4; the lower one wins. */
export interface Placed {
  readonly entry: Entry;
  readonly place: number;
}

/** The first entry of an ordered list that agrees and comes before `best`, else `best`. */
export function firstOf(list: readonly Placed[], request: RoutedRequest, best: Placed | undefined): Placed | undefined {
  for (let i = 0; i < list.length; i++) {
    const placed = list[i];
    if (placed === undefined || (best !== undefined && placed.place > best.place)) return best;
    if (agrees(placed.entry, request)) return placed;
  }
  return best;
}

/** What is asked beside host and path. */
function agrees({ matchers }: Entry, request: RoutedRequest): boolean {
  for (let i = 0; i < matchers.length; i++) if (matchers[i]?.test(request) === false) return false;
  return true;
}
