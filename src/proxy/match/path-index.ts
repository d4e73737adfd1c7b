// The entries of one host, found by path: exact paths by hash, prefixes by segments, patterns by sets that are asked all
// at once. Each list is in the table's order, so the first entry of a list that agrees is the best of that list.
import type { RoutedRequest } from '../request-head.ts';
import type { PatternSets } from './pattern-sets.ts';
import { firstOf, type Placed } from './placed.ts';
import { SegmentTrie } from './segment-trie.ts';

export class PathIndex {
  /** Undefined without exact paths: then the path need not be hashed whole. */
  #exact: Map<string, Placed[]> | undefined;
  readonly #prefixes = new SegmentTrie<Placed[]>();
  #patterns: PatternSets | undefined;

  /** Entries come in order; those of a pattern are given by `patterns`. */
  add(placed: Placed): void {
    const { type, text } = placed.entry.path;
    if (type === 'exact') {
      this.#exact ??= new Map();
      const known = this.#exact.get(text);
      if (known === undefined) this.#exact.set(text, [placed]);
      else known.push(placed);
    } else if (type === 'prefix' && (text === '' || text.startsWith('/'))) {
      // A prefix that does not begin with a slash matches no request.
      this.#prefixes.at(text, () => []).push(placed);
    }
  }

  set patterns(sets: PatternSets) {
    this.#patterns = sets;
  }

  /** The first entry of this host that agrees and comes before `best`, else `best`. */
  better(request: RoutedRequest, best: Placed | undefined): Placed | undefined {
    const exact = this.#exact?.get(request.path);
    const byPath = exact === undefined ? best : firstOf(exact, request, best);
    if (byPath !== best) return byPath;
    const byPrefix = this.#betterPrefix(request, best);
    // Any exact or prefix entry comes before any pattern, so the automata need not be asked.
    if (this.#patterns === undefined || (byPrefix !== undefined && byPrefix.entry.path.type !== 'regex'))
      return byPrefix;
    return this.#patterns.better(request, byPrefix);
  }

  /** Every entry whose path agrees, for explaining: what `better` would look at. */
  *candidates(path: string): Generator<Placed> {
    yield* this.#exact?.get(path) ?? [];
    const count = this.#prefixes.collect(path, found);
    const lists = found.slice(0, count);
    for (const list of lists) yield* list ?? [];
    if (this.#patterns !== undefined) yield* this.#patterns.candidates(path);
  }

  #betterPrefix(request: RoutedRequest, best: Placed | undefined): Placed | undefined {
    for (let i = this.#prefixes.collect(request.path, found) - 1; i >= 0; i--) {
      const list = found[i];
      const better = list === undefined ? best : firstOf(list, request, best);
      if (better !== best) return better;
    }
    return best;
  }
}

/** Used again for each look-up; one look-up never begins within another. */
const found: (Placed[] | undefined)[] = [];
