// Counters of one listener in one worker (contract.md §10.3). Labels become places once, when they are seen for the
// first time; from then on a request adds to numbers.

import { clientGone, proxyErrors } from '../../errors.ts';
import { listenerDefaults } from '../../model/defaults.ts';
import { hides } from '../../model/hidden.ts';
import type { Listener } from '../../model/listener.ts';
import { mask } from '../../model/secret-texts.ts';
import type { ExchangeEntry, Link } from '../exchange/entry.ts';
import type { ExchangeObserver } from '../exchange/exchange-context.ts';
import type { MiddlewareExchange, Tally } from '../exchange/phase.ts';
import type { Verdict } from '../exchange/verdict.ts';
import {
  consumerSubject,
  destinationSubject,
  endpointSubject,
  middlewareSubject,
  mirrorSubject,
  ownSubject,
  routeSubject,
} from './configured.ts';
import { type Collected, deltaBuckets, family, labelsText, tallies } from './families.ts';
import type { MetricBlock } from './metric-block.ts';

/** Methods that have a name of their own; all others are `OTHER`, so that clients cannot make up label sets. */
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'CONNECT'] as const;
const methodNumbers: ReadonlyMap<string, number> = new Map(methods.map((method, number) => [method, number]));
const methodNames: readonly string[] = [...methods, 'OTHER'];
const other = methods.length;

/** `absent`: the head is optional. `stranger`: no trusted proxy. `incomplete`: the connection ended, or took too long. */
export type ProxyHeaderResult = 'read' | 'absent' | 'malformed' | 'incomplete' | 'stranger';

export interface ListenerIdentity {
  readonly id: string;
  readonly name: string;
  /** `address:port` */
  readonly address: string;
}

/** Places of one route in one group. */
class RouteCounters {
  readonly labels: string;
  /** By method number × 1000 + status. */
  readonly requests = new Map<number, number>();
  /** By method number. */
  readonly durations: number[] = [];
  requestBytes = -1;
  responseBytes = -1;
  inflight = -1;

  constructor(labels: string) {
    this.labels = labels;
  }
}

/** Places of one destination or endpoint. */
class TargetCounters {
  readonly labels: string;
  readonly requests = new Map<number, number>();
  duration = -1;
  inflight = -1;

  constructor(labels: string) {
    this.labels = labels;
  }
}

export class ListenerCounters implements ExchangeObserver {
  readonly collected: Collected;
  readonly #block: MetricBlock;
  readonly #place: ListenerIdentity;
  readonly #own: string;
  #routes = new WeakMap<ExchangeEntry, RouteCounters>();
  readonly #destinations = new Map<string, TargetCounters>();
  /** By destination, then by endpoint. */
  readonly #endpoints = new Map<string, Map<string, TargetCounters>>();
  readonly #consumers = new Map<string, Map<number, number>>();
  /** By count and value. */
  #tallies = new WeakMap<Link, Map<string, number>>();
  /** By type and status. */
  readonly #errors = new Map<string, number>();
  #middlewares = new WeakMap<Link, { duration: number; passed: number; readonly labels: string }>();
  readonly #accepted: number;
  readonly #open: number;
  #ended = false;
  /** Epoch of the block at which the places were allocated. */
  #epoch: number;

  constructor(place: ListenerIdentity, collected: Collected, block: MetricBlock) {
    this.#place = place;
    this.collected = collected;
    this.#block = block;
    this.#epoch = block.epoch;
    this.#own = labelsText([
      ['listener', place.name],
      ['address', place.address],
    ]);
    const { listener } = collected;
    this.#accepted = listener ? this.#at(family.connections, this.#own, ownSubject) : -1;
    this.#open = listener ? this.#at(family.activeConnections, this.#own, ownSubject) : -1;
    if (listener) this.#at(family.handshakeErrors, this.#own, ownSubject);
  }

  /** Ends the counters: their places belong to other series from now on. */
  end(): void {
    this.#ended = true;
  }

  get timesMiddlewares(): boolean {
    return this.collected.middleware;
  }

  onConnection(): void {
    this.#add(this.#accepted, 1);
    this.#add(this.#open, 1);
  }

  /** Counts connections that were accepted before the counters existed. */
  alreadyOpen(connections: number): void {
    this.#add(this.#open, connections);
  }

  onConnectionEnd(): void {
    this.#add(this.#open, -1);
  }

  onHandshakeFailure(): void {
    if (this.collected.listener) this.#add(this.#at(family.handshakeErrors, this.#own, ownSubject), 1);
  }

  onMatch(entry: ExchangeEntry): void {
    if (!this.collected.route) return;
    this.#add(this.#routeOf(entry).inflight, 1);
  }

  onEndpoint(destinationId: string): void {
    if (this.collected.destination) this.#add(this.#destinationOf(destinationId).inflight, 1);
  }

  onNoEndpoint(destinationId: string): void {
    if (this.collected.destination) this.#add(this.#destinationOf(destinationId).inflight, -1);
  }

  onRetry(entry: ExchangeEntry, retry: number): void {
    if (!this.collected.route) return;
    const { labels } = this.#routeOf(entry);
    this.#add(this.#at(family.routeRetries, `${labels},attempt="${retry}"`, labels), 1);
  }

  onMirror(entry: ExchangeEntry, destinationId: string): void {
    if (!this.collected.route) return;
    const labels = mirrorSubject(entry.route.name, destinationId);
    this.#add(this.#at(family.mirrorRequests, labels, labels), 1);
  }

  onVerdict(entry: ExchangeEntry, destinationId: string, { result, deltaMs }: Verdict): void {
    if (!this.collected.route) return;
    const labels = mirrorSubject(entry.route.name, destinationId);
    this.#add(this.#at(family.mirrorCompared, `${labels},result="${result}"`, labels), 1);
    if (deltaMs === undefined) return;
    const place = this.#histogram(family.mirrorLatencyDelta, labels, labels, deltaBuckets);
    this.#observe(place, deltaMs / 1000, deltaBuckets);
  }

  onMiddleware(link: Link, seconds: number, rejectedWith: number): void {
    if (!this.collected.middleware) return;
    this.#look();
    let counters = this.#middlewares.get(link);
    if (counters === undefined) {
      const labels = middlewareSubject(link.name, link.type);
      const duration = this.#histogram(family.middlewareDuration, labels, labels);
      counters = { duration, passed: -1, labels };
      this.#middlewares.set(link, counters);
    }
    this.#observe(counters.duration, seconds);
    if (rejectedWith < 400) {
      if (counters.passed < 0) counters.passed = this.#at(family.middlewarePassed, counters.labels, counters.labels);
      this.#add(counters.passed, 1);
    } else {
      const { labels } = counters;
      this.#add(this.#at(family.middlewareRejections, `${labels},status_code="${rejectedWith}"`, labels), 1);
    }
  }

  onTally(link: Link, count: Tally, value: string, by: number): void {
    if (!this.collected.middleware) return;
    this.#look();
    const places = this.#tallies.get(link) ?? new Map<string, number>();
    this.#tallies.set(link, places);
    const key = `${count} ${value}`;
    let place = places.get(key);
    if (place === undefined) {
      const labels = middlewareSubject(link.name, link.type);
      const { family: number, label } = tallies[count];
      place = this.#at(number, `${labels},${label}="${value}"`, labels);
      places.set(key, place);
    }
    this.#add(place, by);
  }

  onErrorPage(status: number): void {
    if (!this.collected.listener) return;
    this.#add(this.#at(family.errorPages, `${this.#own},status_code="${status}"`, ownSubject), 1);
  }

  /** `result` of a connection on which a PROXY head was awaited. */
  onProxyHeader(result: ProxyHeaderResult): void {
    if (!this.collected.listener) return;
    this.#add(this.#at(family.proxyHeaders, `${this.#own},result="${result}"`, ownSubject), 1);
  }

  onFinish(exchange: MiddlewareExchange, entry: ExchangeEntry | undefined): void {
    const { collected } = this;
    const status = exchange.response.status || clientGone;
    // A failure goes to callers of gRPC in a response of status 200, which the upstream did not send.
    const outcome = exchange.error === '' ? status : proxyErrors[exchange.error].status;
    const seconds = (exchange.nowMs - exchange.startedMs) / 1000;
    if (entry !== undefined && collected.route) this.#countRoute(exchange, entry, status, seconds);
    if (exchange.endpoint !== '') {
      const { destinationId, endpoint } = exchange;
      if (collected.destination) {
        const counters = this.#destinationOf(destinationId);
        this.#add(counters.inflight, -1);
        this.#countTarget(counters, outcome, seconds, family.destinationRequests);
      }
      if (collected.endpoint)
        this.#countTarget(this.#endpointOf(destinationId, endpoint), outcome, seconds, family.endpointRequests);
    }
    const { consumer } = exchange.request;
    if (entry !== undefined && consumer !== undefined && collected.consumer) this.#countConsumer(consumer.name, status);
    if (exchange.error !== '' && collected.listener) this.#countError(exchange.error, outcome);
  }

  #countRoute(
    { request, requestBytes, responseBytes }: MiddlewareExchange,
    entry: ExchangeEntry,
    status: number,
    seconds: number,
  ): void {
    const counters = this.#routeOf(entry);
    const method = methodNumbers.get(request.method) ?? other;
    const key = method * 1000 + status;
    let place = counters.requests.get(key);
    if (place === undefined) {
      const labels = `${counters.labels},method="${methodNames[method]}",${statusLabels(status)}`;
      place = this.#at(family.routeRequests, labels, counters.labels);
      counters.requests.set(key, place);
    }
    this.#add(place, 1);
    let duration = counters.durations[method];
    if (duration === undefined) {
      const labels = `${counters.labels},method="${methodNames[method]}"`;
      duration = this.#histogram(family.routeDuration, labels, counters.labels);
      counters.durations[method] = duration;
    }
    this.#observe(duration, seconds);
    this.#add(counters.requestBytes, Math.max(requestBytes, request.bodyKind === 'length' ? request.bodyLength : 0));
    this.#add(counters.responseBytes, responseBytes);
    this.#add(counters.inflight, -1);
  }

  #countTarget(counters: TargetCounters, status: number, seconds: number, number: number): void {
    let place = counters.requests.get(status);
    if (place === undefined) {
      place = this.#at(number, `${counters.labels},${statusLabels(status)}`, counters.labels);
      counters.requests.set(status, place);
    }
    this.#add(place, 1);
    this.#observe(counters.duration, seconds);
  }

  #countConsumer(name: string, status: number): void {
    this.#look();
    const places = this.#consumers.get(name) ?? new Map<number, number>();
    this.#consumers.set(name, places);
    let place = places.get(status);
    if (place === undefined) {
      const labels = consumerSubject(name);
      place = this.#at(family.consumerRequests, `${labels},${statusLabels(status)}`, labels);
      places.set(status, place);
    }
    this.#add(place, 1);
  }

  #countError(type: string, status: number): void {
    const key = `${type} ${status}`;
    let place = this.#errors.get(key);
    if (place === undefined) {
      place = this.#at(family.proxyErrors, `${this.#own},type="${type}",status_code="${status}"`, ownSubject);
      this.#errors.set(key, place);
    }
    this.#add(place, 1);
  }

  #routeOf(entry: ExchangeEntry): RouteCounters {
    this.#look();
    const known = this.#routes.get(entry);
    if (known !== undefined) return known;
    const labels = routeSubject(entry.route.name, entry.group?.name ?? '');
    const counters = new RouteCounters(labels);
    counters.requestBytes = this.#at(family.routeRequestBytes, labels, labels);
    counters.responseBytes = this.#at(family.routeResponseBytes, labels, labels);
    counters.inflight = this.#at(family.routeInflight, labels, labels);
    this.#routes.set(entry, counters);
    return counters;
  }

  #destinationOf(id: string): TargetCounters {
    this.#look();
    const known = this.#destinations.get(id);
    if (known !== undefined) return known;
    const counters = new TargetCounters(destinationSubject(id));
    const { labels } = counters;
    counters.duration = this.#histogram(family.destinationDuration, labels, labels);
    counters.inflight = this.#at(family.destinationInflight, labels, labels);
    this.#destinations.set(id, counters);
    return counters;
  }

  #endpointOf(destinationId: string, endpoint: string): TargetCounters {
    this.#look();
    let own = this.#endpoints.get(destinationId);
    const known = own?.get(endpoint);
    if (known !== undefined) return known;
    const labels = endpointSubject(destinationId, endpoint);
    const counters = new TargetCounters(labels);
    counters.duration = this.#histogram(family.endpointDuration, labels, labels);
    own ??= new Map();
    own.set(endpoint, counters);
    this.#endpoints.set(destinationId, own);
    return counters;
  }

  /** Places that are remembered may mean something else by now. */
  #look(): void {
    if (this.#epoch === this.#block.epoch) return;
    this.#epoch = this.#block.epoch;
    this.#routes = new WeakMap();
    this.#middlewares = new WeakMap();
    this.#tallies = new WeakMap();
    this.#destinations.clear();
    this.#endpoints.clear();
    this.#consumers.clear();
  }

  #at(number: number, labels: string, subject: string): number {
    return this.#ended ? -1 : this.#block.place(this.#place.id, number, labels, subject);
  }

  #histogram(number: number, labels: string, subject: string, buckets = this.collected.buckets): number {
    const width = buckets.length + 2;
    return this.#ended ? -1 : this.#block.place(this.#place.id, number, labels, subject, width);
  }

  #add(place: number, by: number): void {
    if (place >= 0 && !this.#ended) this.#block.values[place] = (this.#block.values[place] ?? 0) + by;
  }

  /** Buckets are counted each for itself and added up when they are shown. */
  #observe(place: number, seconds: number, buckets = this.collected.buckets): void {
    if (place < 0) return;
    let bucket = 0;
    while (bucket < buckets.length && seconds > (buckets[bucket] ?? 0)) bucket++;
    this.#add(place + bucket, 1);
    this.#add(place + buckets.length + 1, seconds);
  }
}

const statusLabels = (status: number): string =>
  `status_code="${String(status).padStart(3, '0')}",status_class="${classOf(status)}"`;

/** Below 200 is `1xx`, 500 and above `5xx`. */
const classOf = (status: number): string => `${Math.min(5, Math.max(1, Math.floor(status / 100)))}xx`;

/** Returns the counters of a listener; undefined where nothing is collected. */
export function countersOf(
  listener: Listener,
  collected: Collected | undefined,
  block: MetricBlock,
): ListenerCounters | undefined {
  if (collected === undefined) return undefined;
  const { id, name, address = listenerDefaults.address, port } = listener;
  const shown = hides(listener, '/address') ? mask : address;
  return new ListenerCounters({ id, name, address: `${shown}:${port}` }, collected, block);
}
