// The routing table (contract.md §6.4): which entry wins a request. Two indexes: a large one that many tables share one
// after the other, of which some entries do not count any more, and a small one of what has come since. A change of one
// route costs the small one; when that has grown, both become one again. A small table is always one index.

import { mergeSorted, slicedSort } from '../../util/sliced-sort.ts';
import type { RoutedRequest } from '../message/routed-request.ts';
import type { Scope } from './candidate.ts';
import { EntryIndex } from './entry-index.ts';
import { compareEntries } from './order.ts';
import type { Ranked, RankedEntry } from './route-entry.ts';

/** An entry by what it is made of and where it stands. */
export type Placed = Ranked & Pick<RankedEntry, 'group'>;

/** Below so many entries a table is one index. */
const layeredFrom = 2_000;
/** The small index may have one entry for so many of the large one, and the large one lack twice as many. */
const recentShare = 64;
const recentMin = 16;
/** Automata of the small index are made anew with each change, so they are few and short. */
const recentPatternsMax = 100;
const recentPatternsInSet = 20;
/** Entries between two pauses. */
const stride = 1024;

/** Entries between two pauses, of which another may be made each. */
const mappedStride = 64;

/** Number of tables made in this thread. */
let tables = 0;

export class RoutingTable {
  readonly #base: EntryIndex;
  readonly #baseScope: Scope;
  readonly #removedCount: number;
  readonly #recent: EntryIndex | undefined;
  readonly #recentScope: Scope;
  readonly #number = ++tables;
  #entries: readonly RankedEntry[] | undefined;

  private constructor(
    base: EntryIndex,
    recent?: EntryIndex,
    removed?: Uint8Array,
    removedCount = 0,
    entries = { base: base.entries, recent: recent?.entries ?? [] },
  ) {
    this.#base = base;
    this.#baseScope = { entries: entries.base, removed };
    this.#removedCount = removedCount;
    this.#recent = recent;
    this.#recentScope = { entries: entries.recent, removed: undefined };
  }

  static readonly empty = new RoutingTable(new EntryIndex([]));

  /** In steps; between two of them other work may be done. `entries` are in total order. */
  static *of(entries: readonly RankedEntry[], former?: RoutingTable): Generator<void, RoutingTable> {
    const base = new EntryIndex(entries);
    yield* base.build(former?.automata);
    return new RoutingTable(base);
  }

  /**
   * The table with another entry in the place of each, over the same index: of one path, of the same hosts and bindings, and
   * with matchers where that has some. In steps.
   */
  *withEntries(other: (entry: RankedEntry) => RankedEntry): Generator<void, RoutingTable> {
    const base = yield* mapped(this.#baseScope.entries, other);
    const recent = yield* mapped(this.#recentScope.entries, other);
    const { removed } = this.#baseScope;
    return new RoutingTable(this.#base, this.#recent, removed, this.#removedCount, { base, recent });
  }

  /** Tells the tables of a thread apart; 0 for one whose expressions may look at more than the head of a request. */
  get headTable(): number {
    return this.#base.asksExpressions || this.#recent?.asksExpressions === true ? 0 : this.#number;
  }

  get size(): number {
    return this.#base.entries.length - this.#removedCount + (this.#recent?.entries.length ?? 0);
  }

  /** In total order; the first that matches wins. */
  get entries(): readonly RankedEntry[] {
    if (this.#entries === undefined) {
      const steps = this.entriesInSteps();
      for (let step = steps.next(); !step.done; step = steps.next());
    }
    return this.#entries ?? [];
  }

  *entriesInSteps(): Generator<void, readonly RankedEntry[]> {
    const { removed, entries: all } = this.#baseScope;
    if (this.#entries !== undefined) return this.#entries;
    const kept = removed === undefined ? all : all.filter((_, place) => removed[place] !== 1);
    yield;
    const recent = this.#recentScope.entries;
    this.#entries = recent.length === 0 ? kept : yield* mergeSorted(kept, recent, compareEntries);
    return this.#entries;
  }

  match(request: RoutedRequest): RankedEntry | undefined {
    const found = this.#base.match(request, this.#baseScope);
    if (this.#recent === undefined) return found;
    const recent = this.#recent.match(request, this.#recentScope);
    if (recent === undefined || found === undefined) return recent ?? found;
    return compareEntries(recent, found) < 0 ? recent : found;
  }

  /** The table without some entries and with others. Undefined when one of those is not in it. In steps. */
  *revised(
    removed: readonly Placed[],
    added: readonly RankedEntry[],
    from = layeredFrom,
  ): Generator<void, RoutingTable | undefined> {
    if (removed.length === 0 && added.length === 0) return this;
    const { length } = this.#base.entries;
    const flags = this.#baseScope.removed?.slice() ?? new Uint8Array(length);
    const gone = new Set<RankedEntry>();
    let removedCount = this.#removedCount;
    for (const each of removed) {
      const place = placeIn(this.#base.entries, each);
      if (place >= 0 && flags[place] === 0) {
        flags[place] = 1;
        removedCount++;
      } else {
        const at = placeIn(this.#recent?.entries ?? [], each);
        const entry = this.#recent?.entries[at];
        if (entry === undefined || gone.has(entry)) return undefined;
        gone.add(entry);
      }
      if (removed.length > stride) yield;
    }
    const stays = (this.#recent?.entries ?? []).filter((entry) => !gone.has(entry));
    const fresh = yield* slicedSort(added, compareEntries);
    const recent = yield* mergeSorted(stays, fresh, compareEntries);
    const layered = new RoutingTable(this.#base, new EntryIndex(recent), flags, removedCount);
    if (length < from || isLarge(recent, length, removedCount)) {
      return yield* RoutingTable.of(yield* layered.entriesInSteps(), this);
    }
    yield* layered.#recent?.build(this.automata, recentPatternsInSet) ?? [];
    return layered;
  }

  /** Kept for the table that follows this one. */
  get automata(): EntryIndex['automata'] {
    if (this.#recent === undefined || this.#recent.automata.size === 0) return this.#base.automata;
    return new Map([...this.#base.automata, ...this.#recent.automata]);
  }
}

function* mapped(
  entries: readonly RankedEntry[],
  other: (entry: RankedEntry) => RankedEntry,
): Generator<void, readonly RankedEntry[]> {
  const made: RankedEntry[] = [];
  for (const entry of entries) {
    made.push(other(entry));
    if (made.length % mappedStride === 0) yield;
  }
  return made;
}

function isLarge(recent: readonly RankedEntry[], base: number, removed: number): boolean {
  const most = recentMin + base / recentShare;
  if (recent.length > most || removed > 2 * most) return true;
  let patterns = 0;
  for (const { path } of recent) if (path.type === 'regex') patterns++;
  return patterns > recentPatternsMax;
}

/** Finds the entry of that route in that group, -1 when there is none. */
function placeIn(entries: readonly RankedEntry[], wanted: Placed): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = entries[middle];
    if (entry !== undefined && compareEntries(entry, wanted) < 0) low = middle + 1;
    else high = middle;
  }
  // Groups of one name may list one route at one position: of those that are as good, the one that is meant.
  for (let place = low; place < entries.length; place++) {
    const entry = entries[place];
    if (entry === undefined || compareEntries(entry, wanted) !== 0) return -1;
    if (entry.route === wanted.route && entry.group === wanted.group) return place;
  }
  return -1;
}
