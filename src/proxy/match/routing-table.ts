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
  readonly #hosts = new HostIndex<Bucket>(() => ({ index: new PathIndex(), patterns: [] }));

  /** Filled by `build` before anything is matched. */
  constructor(entries: readonly Entry[]) {
    this.entries = entries;
  }

  static readonly empty = new RoutingTable([]);

  /** Builds the index in steps; between two of them other work may be done. */
  *build(former: RoutingTable | undefined): Generator<void> {
    for (let place = 0; place < this.entries.length; place++) {
      const entry = this.entries[place];
      if (entry !== undefined) this.#add({ entry, place });
      if (place % 64 === 63) yield;
    }
    for (const bucket of this.#hosts.buckets()) {
      if (bucket.patterns.length === 0) continue;
      const sets = new PatternSets();
      yield* sets.build(bucket.patterns, former?.automata ?? new Map(), this.automata);
      bucket.index.patterns = sets;
    }
  }

  match(request: RoutedRequest): Entry | undefined {
    // `OPTIONS *` has no path: nothing matches it.
    if (request.path.charCodeAt(0) !== slash) return undefined;
    let best: Placed | undefined;
    const count = this.#hosts.collect(request.host, found);
    for (let i = 0; i < count; i++) {
      const bucket = found[i];
      if (bucket !== undefined) best = bucket.index.better(request, best);
    }
    return best?.entry;
  }

  /** Entries whose host and path agree, in order. For explaining; serving asks no more than it needs. */
  candidates(request: RoutedRequest): readonly Entry[] {
    if (request.path.charCodeAt(0) !== slash) return [];
    const places = new Map<number, Entry>();
    const buckets: (Bucket | undefined)[] = [];
    this.#hosts.collect(request.host, buckets);
    for (const bucket of buckets) {
      for (const { entry, place } of bucket?.index.candidates(request.path) ?? []) places.set(place, entry);
    }
    return [...places].sort(([a], [b]) => a - b).map(([, entry]) => entry);
  }

  #add(placed: Placed): void {
    const { hosts, path } = placed.entry;
    const isAny = hosts.length === 0 || hosts.some(({ kind }) => kind === 'any');
    const patterns = isAny ? anyHost : hosts;
    for (const { kind, text } of patterns) {
      const bucket = this.#hosts.bucketOf(kind, text);
      if (path.type === 'regex') bucket.patterns.push(placed);
      else bucket.index.add(placed);
    }
  }
}

interface Bucket {
  readonly index: PathIndex;
  readonly patterns: Placed[];
}

const slash = 0x2f;

const anyHost = [{ kind: 'any', text: '*' }] as const;

/** Used again for each look-up; one look-up never begins within another. */
const found: (Bucket | undefined)[] = [];
