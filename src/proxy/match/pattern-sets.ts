// The entries of one host whose path is a pattern: automata that each look for up to `setSize` patterns in one pass.
// A pattern stands in its set once, however many entries have it.
import { compileRegexSet, type RegexSet } from '../../expression/regex.ts';
import type { RoutedRequest } from '../request-head.ts';
import { firstOf, type Placed } from './placed.ts';

/** Building a set takes time that cannot be divided; 200 patterns stay below 30 ms. */
export const setSize = 200;

interface PatternSet {
  readonly automaton: RegexSet;
  /** By index of the pattern: its entries, in order. */
  readonly lists: readonly (readonly Placed[])[];
}

/** Automata by their patterns, kept from one table to the next. */
export type Automata = Map<string, RegexSet>;

export class PatternSets {
  readonly #sets: PatternSet[] = [];

  /** Takes entries of one host in order. Yields after each set it built, so that a slice of work can end. */
  *build(entries: readonly Placed[], former: Automata, kept: Automata): Generator<void> {
    const lists = new Map<string, Placed[]>();
    for (const placed of entries) {
      const known = lists.get(placed.entry.path.text);
      if (known === undefined) lists.set(placed.entry.path.text, [placed]);
      else known.push(placed);
    }
    const all = [...lists];
    for (let start = 0; start < all.length; start += setSize) {
      const some = all.slice(start, start + setSize);
      const patterns = some.map(([pattern]) => pattern);
      const key = JSON.stringify(patterns);
      const automaton = kept.get(key) ?? former.get(key) ?? compileRegexSet(patterns);
      kept.set(key, automaton);
      this.#sets.push({ automaton, lists: some.map(([, list]) => list) });
      yield;
    }
  }

  /** The first entry that agrees and comes before `best`, else `best`. A later set may hold an earlier entry of a pattern that several share. */
  better(request: RoutedRequest, best: Placed | undefined): Placed | undefined {
    let better = best;
    for (const { automaton, lists } of this.#sets) {
      for (const index of automaton.match(request.path)) {
        const list = lists[index];
        if (list !== undefined) better = firstOf(list, request, better);
      }
    }
    return better;
  }

  *candidates(path: string): Generator<Placed> {
    for (const { automaton, lists } of this.#sets) {
      for (const index of automaton.match(path)) yield* lists[index] ?? [];
    }
  }
}
