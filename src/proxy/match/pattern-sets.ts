// The entries of one host whose path is a pattern: automata that each look for up to `setSize` patterns in one pass.
// A pattern stands in its set once, however many entries have it.
import { compileRegexSet, type RegexSet } from '../../expression/regex.ts';
import type { RoutedRequest } from '../message/routed-request.ts';
import { agrees, type Candidate, placeOf, type Scope } from './candidate.ts';
import type { RankedEntry } from './route-entry.ts';

/** Building a set takes time that cannot be divided; 200 patterns stay below 30 ms. */
const setSize = 200;

interface PatternSet {
  readonly automaton: RegexSet;
  /** By index of the pattern: its candidates, in order. */
  readonly lists: readonly (readonly Candidate[])[];
}

/** Automata by their patterns, kept from one table to the next. */
export type Automata = Map<string, RegexSet>;

export class PatternSets {
  readonly #sets: PatternSet[] = [];
  readonly #setSize: number;

  /** @param size how many patterns are looked for in one pass at most */
  constructor(size = setSize) {
    this.#setSize = size;
  }

  /** Takes candidates of one host in order. Yields after each set it built, so that a slice of work can end. */
  *build(
    candidates: readonly Candidate[],
    entries: readonly RankedEntry[],
    former: Automata,
    kept: Automata,
  ): Generator<void> {
    const lists = new Map<string, Candidate[]>();
    for (const candidate of candidates) {
      const pattern = entries[placeOf(candidate)]?.path.text ?? '';
      const known = lists.get(pattern);
      if (known === undefined) lists.set(pattern, [candidate]);
      else known.push(candidate);
    }
    const all = [...lists];
    for (let start = 0; start < all.length; start += this.#setSize) {
      const some = all.slice(start, start + this.#setSize);
      const patterns = some.map(([pattern]) => pattern);
      const key = JSON.stringify(patterns);
      const automaton = kept.get(key) ?? former.get(key) ?? compileRegexSet(patterns);
      kept.set(key, automaton);
      this.#sets.push({ automaton, lists: some.map(([, list]) => list) });
      yield;
    }
  }

  /** The first entry that agrees and comes before `best`, else `best`. A later set may hold an earlier entry of a pattern that several share. */
  better(scope: Scope, request: RoutedRequest, best: Candidate): Candidate {
    let better = best;
    for (const { automaton, lists } of this.#sets) {
      for (const index of automaton.match(request.path)) {
        const first = lists[index]?.find((each) => each >= better || agrees(each, scope, request));
        if (first !== undefined && first < better) better = first;
      }
    }
    return better;
  }
}
