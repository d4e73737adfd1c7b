// Counters of the stream sessions of one listener in one worker (layer4.md §6), beside those of its connections.
import type { ProxyErrorType } from '../../errors.ts';
import { destinationSubject, ownSubject, streamSubject } from './configured.ts';
import { type Collected, family } from './families.ts';
import type { MetricBlock } from './metric-block.ts';

/** Places of one stream route. */
interface RouteCounters {
  readonly labels: string;
  /** By result. */
  readonly results: Map<string, number>;
  readonly active: number;
  readonly received: number;
  readonly sent: number;
  readonly duration: number;
}

/** Places of one destination. */
interface TargetCounters {
  readonly labels: string;
  readonly results: Map<string, number>;
  readonly active: number;
}

/** A session that has ended. */
export interface EndedStream {
  readonly plan: { readonly name: string };
  readonly error: ProxyErrorType | '';
  readonly startedMs: number;
  readonly nowMs: number;
}

/** Result of a connection that ended without an error. */
const ok = 'ok';

export class StreamCounters {
  readonly #listener: string;
  readonly #collected: Collected;
  readonly #block: MetricBlock;
  readonly #routes = new Map<string, RouteCounters>();
  readonly #destinations = new Map<string, TargetCounters>();
  #epoch: number;
  #ended = false;

  /** `listener`: id. */
  constructor(listener: string, collected: Collected, block: MetricBlock) {
    this.#listener = listener;
    this.#collected = collected;
    this.#block = block;
    this.#epoch = block.epoch;
  }

  /** Ends the counters: their places belong to other series from now on. */
  end(): void {
    this.#ended = true;
  }

  /** Counts a connection that no route matched. */
  onUnrouted(): void {
    if (!this.#collected.route) return;
    const labels = streamSubject('');
    this.#add(this.#at(family.streamConnections, `${labels},result="no_route"`, ownSubject), 1);
  }

  onBegin(route: string): void {
    if (this.#collected.route) this.#add(this.#routeOf(route).active, 1);
  }

  /** Counts sessions that began before the counters existed. `destination`: empty while there is none. */
  alreadyBegun(route: string, destination: string): void {
    this.onBegin(route);
    if (destination !== '') this.onDestination(destination);
  }

  onDestination(id: string): void {
    if (this.#collected.destination) this.#add(this.#destinationOf(id).active, 1);
  }

  onRetry(route: string): void {
    if (!this.#collected.route) return;
    const labels = streamSubject(route);
    this.#add(this.#at(family.streamRetries, labels, labels), 1);
  }

  onCarried(route: string, fromClient: boolean, length: number): void {
    if (!this.#collected.route) return;
    const counters = this.#routeOf(route);
    this.#add(fromClient ? counters.received : counters.sent, length);
  }

  /** `destination`: empty where no endpoint was chosen. */
  onEnd({ plan, error, startedMs, nowMs }: EndedStream, destination: string): void {
    const result = error === '' ? ok : error;
    const { route, destination: byDestination } = this.#collected;
    if (route) {
      const counters = this.#routeOf(plan.name);
      this.#add(counters.active, -1);
      this.#countResult(counters, family.streamConnections, result);
      this.#observe(counters.duration, (nowMs - startedMs) / 1000);
    }
    if (!byDestination || destination === '') return;
    const counters = this.#destinationOf(destination);
    this.#add(counters.active, -1);
    this.#countResult(counters, family.streamDestinationConnections, result);
  }

  #countResult({ labels, results }: TargetCounters, number: number, result: string): void {
    let place = results.get(result);
    if (place === undefined) {
      place = this.#at(number, `${labels},result="${result}"`, labels);
      results.set(result, place);
    }
    this.#add(place, 1);
  }

  #routeOf(name: string): RouteCounters {
    this.#look();
    const known = this.#routes.get(name);
    if (known !== undefined) return known;
    const labels = streamSubject(name);
    const made = {
      labels,
      results: new Map<string, number>(),
      active: this.#at(family.streamActive, labels, labels),
      received: this.#at(family.streamReceivedBytes, labels, labels),
      sent: this.#at(family.streamSentBytes, labels, labels),
      duration: this.#at(family.streamDuration, labels, labels, this.#collected.buckets.length + 2),
    };
    this.#routes.set(name, made);
    return made;
  }

  #destinationOf(id: string): TargetCounters {
    this.#look();
    const known = this.#destinations.get(id);
    if (known !== undefined) return known;
    const labels = destinationSubject(id);
    const active = this.#at(family.streamDestinationActive, labels, labels);
    const made = { labels, results: new Map<string, number>(), active };
    this.#destinations.set(id, made);
    return made;
  }

  /** Places that are remembered may mean something else by now. */
  #look(): void {
    if (this.#epoch === this.#block.epoch) return;
    this.#epoch = this.#block.epoch;
    this.#routes.clear();
    this.#destinations.clear();
  }

  #at(number: number, labels: string, subject: string, width = 1): number {
    return this.#ended ? -1 : this.#block.place(this.#listener, number, labels, subject, width);
  }

  #add(place: number, by: number): void {
    if (place >= 0 && !this.#ended) this.#block.values[place] = (this.#block.values[place] ?? 0) + by;
  }

  #observe(place: number, seconds: number): void {
    if (place < 0) return;
    const { buckets } = this.#collected;
    let bucket = 0;
    while (bucket < buckets.length && seconds > (buckets[bucket] ?? 0)) bucket++;
    this.#add(place + bucket, 1);
    this.#add(place + buckets.length + 1, seconds);
  }
}
