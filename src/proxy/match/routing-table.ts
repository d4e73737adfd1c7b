// The routing table (contract.md §6.4): which entry wins a request. An index instead of a scan, so that the cost of a
// look-up does not grow with the number of routes; its answers are those of a scan over the sorted entries.
import type { Entry } from '../compile/entry.ts';
import type { RoutedRequest } from '../request-head.ts';
import { HostIndex } from './host-index.ts';
import { PathIndex } from './path-index.ts';
import { type Automata, PatternSets } from './pattern-sets.ts';
import type { Placed } from './placed.ts';

export class RoutingTable {
  /** In total order; the first that matches wins. */
  readonly entries: readonly Entry[];
  /** Kept for the table that follows this one. */
  readonly automata: Automata = new Map();
  readonly #hosts = new HostIndex(() => new PathIndex());

  /** Filled by `build` before anything is matched. */
  constructor(entries: readonly Entry[]) {
    this.entries = entries;
  }

  static readonly empty = new RoutingTable([]);

  /** Builds the index in steps; between two of them other work may be done. */
  *build(former: RoutingTable | undefined): Generator<void> {
    const patterns = new Map<PathIndex, Placed[]>();
    for (let place = 0; place < this.entries.length; place++) {
      const entry = this.entries[place];
      if (entry !== undefined) this.#add({ entry, place }, patterns);
      if (place % 64 === 63) yield;
    }
    for (const [index, entries] of patterns) {
      const sets = new PatternSets();
      yield* sets.build(entries, former?.automata ?? new Map(), this.automata);
      index.patterns = sets;
    }
  }

  match(request: RoutedRequest): Entry | undefined {
    // `OPTIONS *` has no path: nothing matches it.
    if (request.path.charCodeAt(0) !== slash) return undefined;
    let best: Placed | undefined;
    const count = this.#hosts.collect(request.host, found);
    for (let i = 0; i < count; i++) {
      const index = found[i];
      if (index !== undefined) best = index.better(request, best);
    }
    return best?.entry;
  }

  /** Entries whose host and path agree, in order. For explaining; serving asks no more than it needs. */
  candidates(request: RoutedRequest): readonly Entry[] {
    if (request.path.charCodeAt(0) !== slash) return [];
    const places = new Map<number, Entry>();
    const indexes: (PathIndex | undefined)[] = [];
    this.#hosts.collect(request.host, indexes);
    for (const index of indexes) {
      for (const { entry, place } of index?.candidates(request.path) ?? []) places.set(place, entry);
    }
    return [...places].sort(([a], [b]) => a - b).map(([, entry]) => entry);
  }

  /** Entries with a pattern are only listed in `patterns`: their sets are built when all are known. */
  #add(placed: Placed, patterns: Map<PathIndex, Placed[]>): void {
    const { hosts, path } = placed.entry;
    const isAny = hosts.length === 0 || hosts.some(({ kind }) => kind === 'any');
    for (const { kind, text } of isAny ? anyHost : hosts) {
      const index = this.#hosts.bucketOf(kind, text);
      if (path.type !== 'regex') {
        index.add(placed);
        continue;
      }
      const known = patterns.get(index);
      if (known === undefined) patterns.set(index, [placed]);
      else known.push(placed);
    }
  }
}

const slash = 0x2f;

const anyHost = [{ kind: 'any', text: '*' }] as const;

/** Used again for each look-up; one look-up never begins within another. */
const found: (PathIndex | undefined)[] = [];
