// An index over sorted entries (contract.md §6.4): which of them wins a request. Instead of a scan, so that the cost of a
// look-up does not grow with the number of routes; its answers are those of a scan. It never changes once it is built.

import type { RoutedRequest } from '../message/routed-request.ts';
import type { HostPattern } from '../target/host.ts';
import { type Candidate, candidateOf, noCandidate, placeOf, type Scope } from './candidate.ts';
import { HostIndex, type HostNumbers } from './host-index.ts';
import { LiteralIndex } from './literal-index.ts';
import { type Automata, PatternSets } from './pattern-sets.ts';
import type { RankedEntry } from './route-entry.ts';

export class EntryIndex {
  /** In total order; the first that matches wins. */
  readonly entries: readonly RankedEntry[];
  /** Kept for the index that follows this one. */
  readonly automata: Automata = new Map();
  /** Given to the host patterns of all bindings in turn, so that the same pattern has another number in each. */
  readonly #numbers: HostNumbers = { next: 0 };
  /** Hosts of entries that are bound to no listener. */
  readonly #hosts = new HostIndex(this.#numbers);
  /** Hosts of the others, by binding; undefined: all entries are bound to none. */
  #bound: Map<string, HostIndex> | undefined;
  #literals = new LiteralIndex({ candidates: 0, units: 0 }, { candidates: 0, units: 0 });
  /** By number of the host; few have any. */
  readonly #patterns = new Map<number, PatternSets>();
  /** First of the entries with a pattern. Without priorities they come after all others. */
  #firstPattern: Candidate = noCandidate;
  /** Some entry has an expression. */
  asksExpressions = false;

  /** Filled by `build` before anything is matched. */
  constructor(entries: readonly RankedEntry[]) {
    this.entries = entries;
  }

  /** Builds the index in steps; between two of them other work may be done. `former` has automata that may fit. */
  *build(former: Automata | undefined, patternsInSet?: number): Generator<void> {
    this.#literals = yield* this.#measured();
    const patterns = new Map<number, Candidate[]>();
    for (let place = 0; place < this.entries.length; place++) {
      const entry = this.entries[place];
      if (entry !== undefined && entry.priority !== 0) this.#literals.ranked = true;
      if (entry !== undefined) this.#add(entry, candidateOf(entry, place), patterns);
      if (place % 64 === 63) yield;
    }
    for (const [host, candidates] of patterns) {
      const sets = new PatternSets(patternsInSet);
      yield* sets.build(candidates, this.entries, former ?? new Map(), this.automata);
      this.#patterns.set(host, sets);
    }
  }

  /** `scope` is about the entries of this index. */
  match(request: RoutedRequest, scope: Scope): RankedEntry | undefined {
    // `OPTIONS *` has no path: nothing matches it.
    if (request.path.charCodeAt(0) !== slash) return undefined;
    const { section } = request;
    if (section?.isServed === false) return undefined;
    let best = this.#among(this.#hosts, request, scope, noCandidate);
    if (this.#bound !== undefined && section !== undefined) {
      best = this.#among(this.#bound.get(section.ofListener), request, scope, best);
      if (section.ofSection !== '') best = this.#among(this.#bound.get(section.ofSection), request, scope, best);
    }
    return best === noCandidate ? undefined : scope.entries[placeOf(best)];
  }

  /** The first entry of a binding that agrees and comes before `best`, else `best`. */
  #among(hosts: HostIndex | undefined, request: RoutedRequest, scope: Scope, best: Candidate): Candidate {
    if (hosts === undefined) return best;
    let better = best;
    const count = hosts.collect(request.host, found);
    for (let i = 0; i < count; i++) better = this.#better(found[i] ?? 0, request, scope, better);
    return better;
  }

  /** The first entry of this host that agrees and comes before `best`, else `best`. */
  #better(host: number, request: RoutedRequest, scope: Scope, best: Candidate): Candidate {
    const better = this.#literals.better(host, scope, request, best);
    if (better < this.#firstPattern || this.#patterns.size === 0) return better;
    return this.#patterns.get(host)?.better(scope, request, better) ?? better;
  }

  /** An index of the size that the entries need. */
  *#measured(): Generator<void, LiteralIndex> {
    const sizes = { exact: { candidates: 0, units: 0 }, prefix: { candidates: 0, units: 0 } };
    for (let place = 0; place < this.entries.length; place++) {
      const entry = this.entries[place];
      if (entry !== undefined && entry.path.type !== 'regex') {
        const length = hostsOf(entry).length * (entry.bindings?.length ?? 1);
        sizes[entry.path.type].candidates += length;
        sizes[entry.path.type].units += length * entry.path.text.length;
      }
      if (place % 1024 === 1023) yield;
    }
    return new LiteralIndex(sizes.exact, sizes.prefix);
  }

  /** Entries with a pattern are only listed in `patterns`: their sets are built when all are known. */
  #add(entry: RankedEntry, candidate: Candidate, patterns: Map<number, Candidate[]>): void {
    if (!this.asksExpressions) this.asksExpressions = entry.matchers.some(({ kind }) => kind === 'cel');
    if (entry.path.type === 'regex') this.#firstPattern = Math.min(this.#firstPattern, candidate);
    const indexes = entry.bindings === undefined ? [this.#hosts] : entry.bindings.map((each) => this.#hostsOf(each));
    for (const hosts of indexes) this.#addHosts(hosts, entry, candidate, patterns);
  }

  #hostsOf(binding: string): HostIndex {
    this.#bound ??= new Map();
    const known = this.#bound.get(binding);
    if (known !== undefined) return known;
    const made = new HostIndex(this.#numbers);
    this.#bound.set(binding, made);
    return made;
  }

  #addHosts(hosts: HostIndex, entry: RankedEntry, candidate: Candidate, patterns: Map<number, Candidate[]>): void {
    const { type, text } = entry.path;
    for (const pattern of hostsOf(entry)) {
      const host = hosts.numberOf(pattern);
      this.#literals.admit(host);
      if (type === 'exact') this.#literals.addExact(host, text, candidate);
      // A prefix that does not begin with a slash matches no request.
      else if (type === 'prefix' && (text === '' || text.startsWith('/')))
        this.#literals.addPrefix(host, text, candidate);
      else if (type === 'regex') {
        const known = patterns.get(host);
        if (known === undefined) patterns.set(host, [candidate]);
        else known.push(candidate);
      }
    }
  }
}

const slash = 0x2f;

const anyHost: readonly HostPattern[] = [{ kind: 'any', text: '*' }];

/** The patterns under which an entry stands; who takes any host needs no other. */
function hostsOf({ hosts }: RankedEntry): readonly HostPattern[] {
  return hosts.length === 0 || hosts.some(({ kind }) => kind === 'any') ? anyHost : hosts;
}

/** Used again for each look-up; one look-up never begins within another. */
const found: number[] = [];
