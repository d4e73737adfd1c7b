// Subject of the rules: a configuration, its compiled table, and answers of explain about it.
import type { Witness } from '../model/answers/finding-answers.ts';
import type { Destination } from '../model/destination.ts';
import type { Listener } from '../model/listener.ts';
import type { Configuration } from '../model/proxy-config.ts';
import { type Settled, settle } from '../proxy/explain/explain.ts';
import { ExplainedListener, listenerFor } from '../proxy/explain/explained-listener.ts';
import { ExplainedRequest } from '../proxy/explain/explained-request.ts';
import { isBoundTo } from '../proxy/match/candidate.ts';
import type { RankedEntry } from '../proxy/match/route-entry.ts';
import type { RoutingTable } from '../proxy/match/routing-table.ts';
import { hostMatches } from '../proxy/target/host.ts';
import { matchedLength } from '../proxy/target/path.ts';
import { ShardedMap } from '../util/sharded-map.ts';
import { PathOverlaps } from './path-overlaps.ts';
import { requestsFor } from './witness.ts';

export interface Surroundings {
  /** Unix milliseconds. */
  readonly nowMs: number;
  /** Address that takes the place of those of the listeners. */
  readonly bindAddress?: string | undefined;
}

export type DestinationsById = Pick<ShardedMap<Destination>, 'get'>;

/** Entries that a rule looks at between two pauses, where most cost next to nothing. */
const pauseEvery = 32;
/** Listeners on which a witness is tried. */
const triedMax = 16;

export class Subject {
  readonly configuration: Configuration;
  readonly table: RoutingTable;
  /** In total order; closed entries too, for they win requests. */
  readonly entries: readonly RankedEntry[];
  readonly nowMs: number;
  readonly bindAddress: string | undefined;
  /** Listeners that take requests. */
  readonly listeners: readonly Listener[];
  #looks = 0;
  #destinations: DestinationsById | undefined;
  #overlaps: PathOverlaps | undefined;
  readonly #explained = new Map<string, ExplainedListener>();

  constructor(
    configuration: Configuration,
    table: RoutingTable,
    entries: readonly RankedEntry[],
    around: Surroundings,
  ) {
    this.configuration = configuration;
    this.table = table;
    this.entries = entries;
    this.nowMs = around.nowMs;
    this.bindAddress = around.bindAddress;
    this.listeners = configuration.listeners.filter(({ protocol }) => protocol !== 'tcp');
  }

  /** Returns true once in a while: a rule yields then. Work that takes longer yields by itself. */
  isPause(): boolean {
    this.#looks = (this.#looks + 1) % pauseEvery;
    return this.#looks === 0;
  }

  /** Made once, in steps. */
  *destinations(): Generator<void, DestinationsById> {
    if (this.#destinations !== undefined) return this.#destinations;
    const byId = new ShardedMap<Destination>();
    for (const destination of this.configuration.destinations) {
      byId.set(destination.id, destination);
      if (this.isPause()) yield;
    }
    this.#destinations = byId;
    return byId;
  }

  /** Overlaps of the paths of `entries`; made once, in steps. */
  *overlaps(): Generator<void, PathOverlaps> {
    this.#overlaps ??= yield* PathOverlaps.of(this.entries);
    return this.#overlaps;
  }

  /** Returns the entry that serves a request, by the code of explain. */
  ask(witness: Witness): Settled {
    return settle(this.table, this.#question(witness));
  }

  /** Returns whether a request meets everything that an entry asks for, whether the entry wins it or not. */
  meets(witness: Witness, entry: RankedEntry): boolean {
    return isMet(entry, new ExplainedRequest(this.#question(witness)));
  }

  /** Requests that meet all of the entries, as far as they can be made; a few of them. */
  *witnesses(entries: readonly RankedEntry[], listeners = this.listeners): Generator<Witness> {
    for (const listener of this.listeners.length === 0 ? [undefined] : listeners.slice(0, triedMax)) {
      if (listener !== undefined && !entries.every((entry) => mayBeOn(entry, listener))) continue;
      for (const witness of requestsFor(entries, listener))
        if (entries.every((entry) => this.meets(witness, entry))) yield witness;
    }
  }

  /** Returns a request that the entry serves; undefined where none was found. */
  servedBy(entry: RankedEntry, listeners = this.listeners): Witness | undefined {
    for (const witness of this.witnesses([entry], listeners)) if (this.ask(witness).winner === entry) return witness;
    return undefined;
  }

  /** Listeners whose requests the entry is asked for. */
  listenersOf(entry: RankedEntry): readonly Listener[] {
    return entry.bindings === undefined ? this.listeners : this.listeners.filter((each) => mayBeOn(entry, each));
  }

  /** Returns whether a listener hands requests for a host to the entry, as far as sections decide. */
  hands({ id }: Listener, host: string, entry: RankedEntry): boolean {
    return isBoundTo(entry, this.#listener(id, undefined)?.sectionOf(host));
  }

  #question({ method, url, headers, listener, sni }: Witness) {
    const named = listener === undefined ? undefined : this.#listener(listener, sni);
    const on = named ?? listenerFor(this.configuration.listeners, { url, headers });
    return { method, url, headers, clientIp: '127.0.0.1', ...(on !== undefined && { on }) };
  }

  #listener(id: string, sni: string | undefined): ExplainedListener | undefined {
    const key = `${id} ${sni ?? ''}`;
    const known = this.#explained.get(key);
    if (known !== undefined) return known;
    const listener = this.listeners.find((each) => each.id === id);
    if (listener === undefined) return undefined;
    const question = { url: '/', headers: {}, listener: id, ...(sni !== undefined && { sni }) };
    const made = new ExplainedListener(listener, question);
    this.#explained.set(key, made);
    return made;
  }
}

const mayBeOn = ({ bindings }: RankedEntry, { id }: Listener): boolean =>
  bindings === undefined || bindings.some((each) => each === id || each.startsWith(`${id}/`));

function isMet(entry: RankedEntry, request: ExplainedRequest): boolean {
  const { path, hosts, matchers } = entry;
  return (
    request.path !== '' &&
    isBoundTo(entry, request.section) &&
    matchedLength(path, request.path) >= 0 &&
    (hosts.length === 0 || hosts.some((pattern) => hostMatches(pattern, request.host))) &&
    matchers.every((matcher) => matcher.test(request))
  );
}
