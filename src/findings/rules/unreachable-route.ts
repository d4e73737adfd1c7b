// unreachable-route: every request of an entry is won by earlier ones. Entries are looked up by what covers them, a prefix
// of the path and a suffix of the host, so that the cost does not grow with the table; those whose path overlaps with no
// other are not looked up.

import type { Listener } from '../../model/listener.ts';
import { listenerIn } from '../../model/listener-binding.ts';
import { schemeOf } from '../../proxy/explain/explained-listener.ts';
import type { RankedEntry } from '../../proxy/match/route-entry.ts';
import type { HostPattern } from '../../proxy/target/host.ts';
import { ShardedMap } from '../../util/sharded-map.ts';
import { type Conditions, conditionsOf, conditionTexts, methodsOf } from '../conditions.ts';
import { nameOf, placeOf, type RawFinding } from '../finding.ts';
import { literalStart } from '../pattern-sample.ts';
import type { Subject } from '../subject.ts';

/** Earlier entries of one path, host and condition that are compared with an entry. */
const comparedMax = 1_000;

type PathKey = Pick<RankedEntry['path'], 'type' | 'text'>;

interface Earlier {
  readonly entry: RankedEntry;
  readonly conditions: Conditions;
  readonly methods: readonly string[] | undefined;
}

export function* unreachableRoutes(subject: Subject): Generator<void, readonly RawFinding[]> {
  const found: RawFinding[] = [];
  const index = new CoverIndex(subject.listeners);
  const overlaps = yield* subject.overlaps();
  for (const [at, entry] of subject.entries.entries()) {
    if (subject.isPause()) yield;
    if (!overlaps.isNested(at)) continue;
    const winners = index.winnersOf(entry);
    if (winners !== undefined) {
      yield;
      found.push(findingOf(subject, entry, winners));
    }
    index.add(entry);
  }
  return found;
}

function findingOf(subject: Subject, entry: RankedEntry, winners: readonly RankedEntry[]): RawFinding {
  const witness = lostWitness(subject, entry);
  const names = winners.map(nameOf).join(', ');
  return {
    severity: 'error',
    ...placeOf(entry, '/match'),
    message: `${nameOf(entry)} serves no request: ${names} ${winners.length > 1 ? 'win' : 'wins'} every one that it matches`,
    witness: witness ?? null,
    because: winners.map((winner) => placeOf(winner, '/match')),
    madeOf: [entry],
  };
}

/** A request that meets the entry and that another one wins. */
function lostWitness(subject: Subject, entry: RankedEntry) {
  for (const witness of subject.witnesses([entry])) {
    const { matched } = subject.ask(witness);
    if (matched !== undefined && matched !== entry) return witness;
  }
  return undefined;
}

/** Entries by the path, host and first condition that they ask for. */
class CoverIndex {
  /** Paths by their kind, so that most entries are looked up no further. */
  readonly #paths = {
    exact: new ShardedMap<true>(),
    prefix: new ShardedMap<true>(),
    regex: new ShardedMap<true>(),
  };
  readonly #lists = new ShardedMap<Earlier[]>();
  /** Conditions that every request on a listener meets, by its id. */
  readonly #met: ReadonlyMap<string, readonly string[]>;
  /** Some entry asks for a scheme or a port. */
  #asksListener = false;

  constructor(listeners: readonly Listener[]) {
    this.#met = new Map(
      listeners.map((each) => [each.id, [conditionTexts.scheme(schemeOf(each)), conditionTexts.port(each.port)]]),
    );
  }

  add(entry: RankedEntry): void {
    const { path, bindings } = entry;
    if (bindings?.length === 0) return;
    const conditions = conditionsOf(entry);
    const methods = methodsOf(entry);
    this.#noteListener(entry);
    this.#paths[path.type].set(path.text, true);
    for (const host of hostsOf(entry)) {
      const key = listKey(path, keyOfHost(host), conditions.own[0] ?? '');
      const list = this.#lists.get(key);
      if (list === undefined) this.#lists.set(key, [{ entry, conditions, methods }]);
      else if (list.length < comparedMax) list.push({ entry, conditions, methods });
    }
  }

  /** Returns the entries that win every request of this one; undefined: some request may reach it. */
  winnersOf(entry: RankedEntry): readonly RankedEntry[] | undefined {
    const { bindings } = entry;
    if (bindings?.length === 0) return undefined;
    this.#noteListener(entry);
    const places = this.#coversOfPath(entry);
    if (places.length === 0) return undefined;
    const { implied } = conditionsOf(entry);
    const methods = methodsOf(entry) ?? [undefined];
    const winners = new Set<RankedEntry>();
    for (const binding of bindings ?? (this.#met.size === 0 ? [undefined] : this.#met.keys())) {
      const met = this.#metOn(binding);
      // Such a listener has no request for the entry.
      if (met !== undefined && isOfOtherListener(entry, met)) continue;
      const given = met === undefined ? implied : new Set([...implied, ...met]);
      for (const host of hostsOf(entry)) {
        const candidates = this.#candidatesFor(places, host, given).filter((each) => isOn(each.entry, binding));
        for (const method of methods) {
          const winner = candidates.find(
            (each) => each.methods === undefined || (method !== undefined && each.methods.includes(method)),
          );
          if (winner === undefined) return undefined;
          winners.add(winner.entry);
        }
      }
    }
    return winners.size === 0 ? undefined : [...winners];
  }

  #noteListener({ route: { match = {} } }: RankedEntry): void {
    if (match.scheme !== undefined || match.port !== undefined) this.#asksListener = true;
  }

  /** Returns the conditions that every request of a binding meets; undefined where no entry asks for such. */
  #metOn(binding: string | undefined): readonly string[] | undefined {
    return this.#asksListener && binding !== undefined ? this.#met.get(listenerIn(binding)) : undefined;
  }

  #candidatesFor(places: readonly PathKey[], host: HostPattern, implied: ReadonlySet<string>): readonly Earlier[] {
    const found: Earlier[] = [];
    for (const path of places) {
      for (const key of coversOfHost(host)) {
        for (const first of ['', ...implied])
          for (const each of this.#lists.get(listKey(path, key, first)) ?? [])
            if (each.conditions.own.every((condition) => implied.has(condition))) found.push(each);
      }
    }
    return found;
  }

  /** Known paths that hold every path of the entry. */
  #coversOfPath({ path: { type, text } }: RankedEntry): readonly PathKey[] {
    if (!text.startsWith('/') && type !== 'regex' && text !== '') return [];
    const found: PathKey[] = [];
    const { exact, prefix, regex } = this.#paths;
    if (type === 'exact' && exact.get(text)) found.push({ type, text });
    if (type === 'regex' && regex.get(text)) found.push({ type, text });
    // The rest behind the literal start of a pattern may be anything but the end of a segment.
    const start = type === 'regex' ? literalStart(text) : text;
    const whole = type === 'regex' ? start.slice(0, Math.max(0, start.lastIndexOf('/'))) : text;
    for (let end = whole.length; end > 0; end = whole.lastIndexOf('/', end - 1)) {
      const each = whole.slice(0, end);
      if (prefix.get(each)) found.push({ type: 'prefix', text: each });
    }
    if (prefix.get('')) found.push({ type: 'prefix', text: '' });
    return found;
  }
}

const isOn = ({ bindings }: RankedEntry, binding: string | undefined): boolean =>
  bindings === undefined ||
  (binding !== undefined && (bindings.includes(binding) || bindings.includes(listenerIn(binding))));

const isOfOtherListener = ({ route: { match = {} } }: RankedEntry, met: readonly string[]): boolean =>
  (match.scheme !== undefined && !met.includes(conditionTexts.scheme(match.scheme))) ||
  (match.port !== undefined && !met.includes(conditionTexts.port(match.port)));

const any: HostPattern = { kind: 'any', text: '*' };

const hostsOf = ({ hosts }: RankedEntry): readonly HostPattern[] =>
  hosts.length === 0 || hosts.some(({ kind }) => kind === 'any') ? [any] : hosts;

const keyOfHost = ({ kind, text }: HostPattern): string =>
  kind === 'suffix' ? `*${text}` : kind === 'any' ? '' : text;

/** Keys of the patterns that hold every host of this one. */
function coversOfHost({ kind, text }: HostPattern): readonly string[] {
  if (kind === 'any') return [''];
  const keys = kind === 'suffix' ? [`*${text}`] : [text];
  for (let dot = text.indexOf('.', 1); dot > 0; dot = text.indexOf('.', dot + 1)) keys.push(`*${text.slice(dot)}`);
  return [...keys, ''];
}

/** The path at the end: shards are chosen by it. */
const listKey = ({ type, text }: PathKey, host: string, condition: string): string =>
  `${condition}\n${host}\n${type} ${text}`;
