// Recorder of recent requests in a worker: takes an exchange that is over, decides whether it is kept, and writes the
// permitted fields to the ring. Values of parameters and fields that are not listed are never written.
import { clientGone } from '../../errors.ts';
import type { Clock } from '../../util/clock.ts';
import type { ExchangeEntry } from '../exchange/entry.ts';
import type { RanChain } from '../exchange/exchange-context.ts';
import type { MiddlewareExchange } from '../exchange/phase.ts';
import { combinedValue } from '../fields/field-lines.ts';
import type { ServedSection } from '../message/routed-request.ts';
import { loggedField } from '../middleware/log-text.ts';
import { ChainCounts } from './chain-counts.ts';
import { destinationSubject, LastHits } from './last-hits.ts';
import { parameterNames, parameterValues } from './parameter-names.ts';
import { headerMax, hostMax, methodMax, present, RequestRing, type RingShape } from './request-ring.ts';
import { Sampling } from './sampling.ts';

/** Kept per second and worker, at most: at about a microsecond each. */
const keptPerSecond = 1_000;
/**
 * Rate at which responses from 500 on and proxy errors are kept beside those, per second: operators look for them
 * first.
 */
const errorsPerSecond = 200;
/** Between two looks at the wall clock, which may have been set meanwhile. */
const lookEveryMs = 100;

/** Destinations whose claims are kept; a process that has met more claims them again. */
const destinationsMax = 65_536;

/** Texts of a route in the ring, and its claim on a place among the last hits. */
interface KnownRoute {
  readonly text: string;
  claim: number;
  /** Claims of its links on counts of chains; undefined until one has run. */
  links: number[] | undefined;
}

export class RecentRequests {
  readonly #ring: RequestRing;
  readonly #place: number;
  readonly #clock: Clock;
  readonly #all: Sampling;
  readonly #errors: Sampling;
  readonly #hits: LastHits;
  readonly #chains: ChainCounts;
  /** Claims of destinations on places among the last hits, by id. */
  readonly #destinations = new Map<string, number>();
  readonly #routes = new WeakMap<ExchangeEntry, KnownRoute>();
  readonly #sections = new WeakMap<ServedSection, string>();
  #seen = 0;
  #kept = 0;
  /** Time of the next comparison of the two clocks, and the lead of the wall clock at the last one. */
  #lookAtMs = Number.NEGATIVE_INFINITY;
  #apartMs = 0;

  constructor(shape: RingShape, place: number, clock: Clock, random: () => number = Math.random) {
    this.#ring = new RequestRing(shape);
    this.#hits = new LastHits(shape.hits);
    this.#chains = new ChainCounts(shape.chains);
    this.#place = place;
    this.#clock = clock;
    this.#all = new Sampling(keptPerSecond, random);
    this.#errors = new Sampling(errorsPerSecond, random);
    // A worker before this one may have counted.
    const { seen, kept } = this.#ring.readCounts(place);
    this.#seen = seen;
    this.#kept = kept;
  }

  /** @param wasRead false: the request could not be read, and its object still describes another. */
  note(
    exchange: MiddlewareExchange,
    entry: ExchangeEntry | undefined,
    nowMs: number,
    wasRead: boolean,
    chain: RanChain,
  ): void {
    this.#seen++;
    const route = entry && this.#routeOf(entry);
    if (entry !== undefined && route !== undefined)
      this.#hit(entry, route, exchange.destinationId, this.#wallMs(nowMs));
    if (entry !== undefined && route !== undefined && chain.count > 0) this.#countChain(entry, route, chain);
    const isError = exchange.error !== '' || exchange.response.status >= 500;
    const oneIn = isError ? this.#errors.take(nowMs) : this.#all.take(nowMs);
    if (oneIn > 0) {
      this.#kept++;
      this.#write(exchange, route, nowMs, oneIn, wasRead);
    }
    this.#ring.storeCounts(this.#place, this.#seen, this.#kept, this.#all.oneIn, this.#errors.oneIn);
  }

  #countChain(entry: ExchangeEntry, route: KnownRoute, chain: RanChain): void {
    const { id } = entry.route;
    route.links ??= entry.links.map((link) => this.#chains.claim(id, link.id));
    for (let at = 0; at < chain.count; at++) {
      const slot = chain.slotAt(at);
      const link = entry.links[slot];
      const claim = route.links[slot];
      if (link === undefined || claim === undefined) continue;
      if (this.#chains.count(this.#place, claim, chain.refusedAt(at))) continue;
      const anew = this.#chains.claim(id, link.id);
      route.links[slot] = anew;
      this.#chains.count(this.#place, anew, chain.refusedAt(at));
    }
  }

  #write(
    exchange: MiddlewareExchange,
    route: KnownRoute | undefined,
    nowMs: number,
    oneIn: number,
    wasRead: boolean,
  ): void {
    const { request, response, destinationId, endpoint, attempts, error, snapshot, role } = exchange;
    const durationMs = Math.max(0, nowMs - exchange.startedMs);
    const { attemptMs, connectMs: untilSent, upstreamMs: untilHead } = exchange;
    // A phase that never ended has the rest of the time.
    const proxyMs = attempts === 0 ? durationMs : attemptMs - exchange.startedMs;
    const sentMs = durationMs - proxyMs;
    const connectMs = attempts === 0 || untilSent < 0 ? sentMs : untilSent;
    const firstByteMs = Math.max(0, (untilHead < 0 ? sentMs : untilHead) - connectMs);
    this.#ring.write(
      this.#place,
      {
        timeMs: this.#wallMs(nowMs) - durationMs,
        durationMs,
        proxyMs,
        connectMs,
        firstByteMs,
        index: snapshot.index,
        oneIn,
        status: response.status || clientGone,
        attempts,
        protocol: request.protocol,
        secure: request.scheme === 'https',
        candidate: role === 'candidate',
        error,
      },
      wasRead
        ? `${request.method.slice(0, methodMax)}\0${request.host.slice(0, hostMax)}\0${route?.text ?? '\0\0'}\0${destinationId}\0` +
            `${endpoint}\0${parameterNames(request.query)}\0${this.#listenerText(request.section)}\0${this.#headersText(exchange)}${this.#queryText(request.query)}${request.path}`
        : '',
    );
  }

  /** The wall clock, which is looked at once in a while: what lies between follows the monotonic one. */
  #wallMs(nowMs: number): number {
    if (nowMs >= this.#lookAtMs) {
      this.#lookAtMs = nowMs + lookEveryMs;
      this.#apartMs = this.#clock.nowMs() - nowMs;
    }
    return nowMs + this.#apartMs;
  }

  #hit(entry: ExchangeEntry, route: KnownRoute, destinationId: string, wallMs: number): void {
    if (!this.#hits.hit(route.claim, wallMs)) {
      route.claim = this.#hits.claim(entry.route.id);
      this.#hits.hit(route.claim, wallMs);
    }
    if (destinationId === '') return;
    const known = this.#destinations.get(destinationId);
    if (known !== undefined && this.#hits.hit(known, wallMs)) return;
    const claim = this.#hits.claim(destinationSubject(destinationId));
    if (this.#destinations.size >= destinationsMax) this.#destinations.clear();
    this.#destinations.set(destinationId, claim);
    this.#hits.hit(claim, wallMs);
  }

  #routeOf(entry: ExchangeEntry): KnownRoute {
    const known = this.#routes.get(entry);
    if (known !== undefined) return known;
    const { route, group } = entry;
    const text = `${route.id}\0${nameText(route.name)}\0${nameText(group?.name ?? '')}`;
    const made: KnownRoute = { text, claim: this.#hits.claim(route.id), links: undefined };
    this.#routes.set(entry, made);
    return made;
  }

  /** Returns id and name of the listener, and the name of the section. */
  #listenerText(section: ServedSection | undefined): string {
    if (section === undefined) return '\0\0';
    let text = this.#sections.get(section);
    if (text === undefined) {
      const { id, name, section: own } = section.listener;
      text = `${id}\0${nameText(name)}\0${own}`;
      this.#sections.set(section, text);
    }
    return text;
  }

  /** Returns the headers as the client sent them, before any middleware. */
  #headersText({ request }: MiddlewareExchange): string {
    const { headers } = this.#ring.shape;
    let text = '';
    for (const name of headers) {
      const value = combinedValue(request.lines, name);
      text += value === undefined ? '\0' : `${present}${loggedField(name, value).slice(0, headerMax - 2)}\0`;
    }
    return text;
  }

  #queryText(query: string): string {
    const { query: names } = this.#ring.shape;
    if (names.length === 0) return '';
    let text = '';
    for (const value of parameterValues(query, names))
      text += value === undefined ? '\0' : `${present}${value.slice(0, headerMax - 2)}\0`;
    return text;
  }
}

/** Names have any length. */
const nameText = (name: string): string => name.replaceAll('\0', '').slice(0, 128);
