// The configurations of a control plane as a source for the data plane (contract.md §4.2, architecture.md §6.13): follows
// the stream for ever, keeps what it has through every outage, and lets nothing older of the same cluster through. What
// becomes of a configuration comes back by `settle`.

import type { CookieKeys } from '../model/cookie-keys.ts';
import type { Drains } from '../model/drained-endpoint.ts';
import { isObject } from '../model/json-object.ts';
import { describe, type Problem } from '../model/problem.ts';
import type { Candidate, ConfigSource, ProxyConfig } from '../model/proxy-config.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Cancel, Clock } from '../util/clock.ts';
import { jsonOf } from '../util/malformed-json.ts';
import type { Topic } from '../util/topic.ts';
import type { Attempt, Attempts } from './attempts.ts';
import type { ControlPlaneLink, StreamEvent } from './control-plane-link.ts';
import { OutageLog } from './outage-log.ts';
import { type ReceivedConfig, readSnapshotEvent, UnusableEvent } from './received-config.ts';
import { type CandidateStatus, RemoteCandidates } from './remote-candidates.ts';
import { remoteCookieKeys, remoteDrains } from './remote-fact.ts';

/** Position of an activation: a cluster and an index of its log. */
export interface LogPlace {
  readonly clusterId: string;
  readonly index: number;
}

/** One configuration that came, and what has become of it so far. */
export interface Arrival extends ReceivedConfig {
  readonly order: number;
  /** Undefined: the sender numbers nothing. */
  readonly place: LogPlace | undefined;
  /** As it came; what a copy of it consists of. */
  readonly data: string;
  readonly from: 'stream' | 'copy';
}

/** The stream that is open. */
export interface OpenStream {
  readonly url: string;
  /** Id of the cluster; empty: not given. */
  readonly clusterId: string;
  /** Names this stream in acknowledgements; undefined: this control plane asks for none. */
  readonly token: string | undefined;
  /** Name of the node, where it is given. */
  readonly node: string | undefined;
}

export interface RemoteSourceOptions {
  readonly link: Pick<ControlPlaneLink, 'follow'>;
  readonly attempts: Attempts;
  /** Sent with each request for the stream. */
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Result of the data plane for a configuration. */
export interface Settlement {
  readonly isLive: boolean;
  /** Parts that it closed, or why it is not live. */
  readonly problems: readonly Problem[];
}

/** Observer of the remote source, for the rest of the process. */
export interface RemoteObserver {
  opened(stream: OpenStream): void;
  closed(): void;
  /** An event that could not be used. */
  unusable(problems: readonly Problem[], place: LogPlace | undefined): void;
  /** Called with the status of a candidate, also when it is unchanged. */
  tried(word: CandidateStatus): void;
  /** The same content stands at another place of the log now, or was confirmed. */
  confirmed(installed: Arrival): void;
  heard(event: string): void;
  /** Called with the data of a question of the control plane. */
  asked(data: string): void;
}

export class RemoteSource implements ConfigSource {
  readonly #options: RemoteSourceOptions;
  readonly #subscribers = new Set<(config: ProxyConfig) => void>();
  readonly #observers: RemoteObserver[] = [];
  readonly candidates: RemoteCandidates;
  readonly #drains = remoteDrains();
  readonly #cookieKeys = remoteCookieKeys();
  #order = 0;
  /** Newest that was handed on and not refused; its outcome may be open. */
  #taken: Arrival | undefined;
  /** Handed on, with outcomes that are open, by order. Those that are overtaken have none. */
  readonly #open = new Map<number, Arrival>();
  #current: ProxyConfig | undefined;
  #installed: Arrival | undefined;
  #floor: LogPlace | undefined;
  #stream: OpenStream | undefined;
  #clusterId = '';
  readonly #outage: OutageLog;
  #leave: Cancel = () => {};
  #cancelWait: Cancel = () => {};
  #ended = false;

  constructor(options: RemoteSourceOptions) {
    this.#options = options;
    const { clock, logger } = options;
    this.#outage = new OutageLog(clock, logger);
    const onWord = (word: CandidateStatus): void => {
      for (const observer of this.#observers) observer.tried(word);
    };
    this.candidates = new RemoteCandidates({ clock, logger, onWord });
  }

  get drains(): Topic<Drains> {
    return this.#drains.topic;
  }

  get cookieKeys(): Topic<CookieKeys> {
    return this.#cookieKeys.topic;
  }

  subscribeCandidate(subscriber: (candidate: Candidate | undefined) => void): () => void {
    return this.candidates.subscribe(subscriber);
  }

  /** The configuration that is live; undefined before the first. */
  get installed(): Arrival | undefined {
    return this.#installed;
  }

  get stream(): OpenStream | undefined {
    return this.#stream;
  }

  observe(observer: RemoteObserver): void {
    this.#observers.push(observer);
  }

  subscribe(subscriber: (config: ProxyConfig) => void): () => void {
    this.#subscribers.add(subscriber);
    if (this.#current !== undefined) subscriber(this.#current);
    return () => this.#subscribers.delete(subscriber);
  }

  /** Hands on a configuration, and keys of cookies, that were kept from an earlier life. Before `start`. */
  begin(received: ReceivedConfig, place: LogPlace | undefined, data: string, keys?: CookieKeys): void {
    this.#floor = place;
    if (keys !== undefined) {
      this.#cookieKeys.opened(place?.clusterId ?? '');
      this.#cookieKeys.topic.publish(keys);
    }
    this.#hand({ ...received, order: ++this.#order, place, data, from: 'copy' });
  }

  start(): void {
    this.#follow(this.#options.attempts.first());
  }

  /** Leaves the stream and its control plane; another is asked at once or soon. */
  reconnect(reason: string): void {
    if (this.#stream === undefined) return;
    this.#leave();
    this.#again(reason, 0);
  }

  /** Takes the result of the data plane for the configuration of that order. */
  settle(order: number | undefined, { isLive, problems }: Settlement): Arrival | undefined {
    const settled = order === undefined ? undefined : this.#open.get(order);
    if (settled === undefined) return undefined;
    for (const each of this.#open.keys()) if (each <= settled.order) this.#open.delete(each);
    const arrival = { ...settled, problems: [...settled.problems, ...problems] };
    if (isLive) this.#installed = arrival;
    // What was refused may come again, and then it is tried again.
    if (this.#taken?.order === arrival.order) this.#taken = this.#installed;
    return arrival;
  }

  close(): void {
    this.#ended = true;
    this.candidates.close();
    this.#cancelWait();
    this.#leave();
    this.#outage.close();
    this.#lost();
  }

  #follow({ url, delayMs }: Attempt): void {
    if (delayMs > 0) {
      this.#cancelWait = this.#options.clock.after(delayMs, () => this.#follow({ url, delayMs: 0 }));
      return;
    }
    const { link, headers, clock } = this.#options;
    let openedMs: number | undefined;
    this.#leave = link.follow(
      url,
      { ...headers, ...this.#has() },
      {
        onOpen: (header) => {
          openedMs = clock.monotonicMs();
          const clusterId = header('x-sluice-cluster') ?? '';
          const stream = { url, clusterId, token: header('x-sluice-ack'), node: header('x-sluice-node') };
          this.#clusterId = clusterId;
          this.#stream = stream;
          this.candidates.opened(clusterId);
          this.#drains.opened(clusterId);
          this.#cookieKeys.opened(clusterId);
          this.#outage.opened({ controlPlane: shown(url), node: stream.node });
          for (const observer of this.#observers) observer.opened(stream);
        },
        onEvent: (event) => this.#onEvent(event),
        onByte: () => this.candidates.contact(),
        onEnd: (reason) => this.#again(reason, openedMs === undefined ? 0 : clock.monotonicMs() - openedMs),
      },
    );
  }

  #again(reason: string, servedMs: number): void {
    const url = this.#stream?.url;
    this.#lost();
    if (this.#ended) return;
    const next = this.#options.attempts.next(servedMs);
    const about = { reason, from: url && shown(url), next: shown(next.url), inMs: Math.round(next.delayMs) };
    this.#outage.ended(about, servedMs);
    this.#follow(next);
  }

  #lost(): void {
    if (this.#stream === undefined) return;
    this.#stream = undefined;
    for (const observer of this.#observers) observer.closed();
  }

  /** Tells what need not be sent again. */
  #has(): Record<string, string> {
    const { place, sha256 } = this.#installed ?? {};
    const { rollout, heard } = this.candidates;
    const trial = `${rollout} ${heard.clusterId} ${heard.index}`;
    const tried: Record<string, string> = rollout === undefined ? {} : { 'x-sluice-candidate': trial };
    if (place === undefined || place.clusterId === '' || sha256 === undefined) return tried;
    return { ...tried, 'x-sluice-has': `${place.clusterId} ${place.index} ${sha256}` };
  }

  #onEvent(streamEvent: StreamEvent): void {
    const { event, id, data } = streamEvent;
    for (const observer of this.#observers) observer.heard(event);
    const index = id !== undefined && /^\d{1,15}$/.test(id) ? Number(id) : undefined;
    const place = index === undefined ? undefined : { clusterId: this.#clusterId, index };
    if (event === 'snapshot') this.#snapshot(data, place);
    else if (event === 'current') this.#confirm(data, place);
    else if (event === 'drains') this.#drains.onEvent(data);
    else if (event === 'cookieKeys') this.#cookieKeys.onEvent(data);
    else if (event === 'ask') this.#asked(data);
    else if (event === 'candidate' || event === 'share' || event === 'withdraw') this.candidates.onEvent(streamEvent);
  }

  #asked(data: string): void {
    for (const observer of this.#observers) observer.asked(data);
  }

  #snapshot(data: string, place: LogPlace | undefined): void {
    const { logger } = this.#options;
    if (this.#isOlder(place)) {
      const about = { index: place?.index, floor: this.#floor?.index };
      logger.warn(about, 'a configuration older than the installed one is passed over: the control plane lags');
      return;
    }
    const received = this.#read(data, place);
    if (received === undefined) return;
    this.#floor = place;
    if (received.sha256 === this.#taken?.sha256) {
      this.#move(place, received);
      return;
    }
    this.#hand({ ...this.#asTried(received), order: ++this.#order, place, data, from: 'stream' });
  }

  /** Returns the object of a candidate with the same content, so that it is not compiled again. */
  #asTried(received: ReceivedConfig): ReceivedConfig {
    const tried = this.candidates.held?.received;
    if (tried?.sha256 !== received.sha256) return received;
    return { ...received, config: { ...received.config, snapshot: tried.config.snapshot } };
  }

  #read(data: string, place: LogPlace | undefined): ReceivedConfig | undefined {
    const { logger } = this.#options;
    try {
      const received = readSnapshotEvent(data);
      const about = { snapshot: received.config.id, index: place?.index };
      if (received.problems.length > 0)
        logger.error({ ...about, problems: describe(received.problems) }, 'parts of a configuration are closed');
      if (received.warnings.length > 0)
        logger.warn({ ...about, problems: describe(received.warnings) }, 'parts of a configuration fall back');
      return received;
    } catch (error) {
      const reason = error instanceof UnusableEvent ? error.message : 'it cannot be read';
      logger.error({ index: place?.index, reason }, 'a configuration cannot be used, the former one stays');
      for (const observer of this.#observers) observer.unusable([{ pointer: '', message: reason }], place);
      return undefined;
    }
  }

  #confirm(data: string, place: LogPlace | undefined): void {
    const event = jsonOf(data);
    const { sha256, trace } = isObject(event) ? event : {};
    if (this.#isOlder(place)) return;
    const tried = this.candidates.held;
    if (tried !== undefined && sha256 === tried.received.sha256 && sha256 !== this.#taken?.sha256) {
      // The candidate is the stable configuration now.
      this.#floor = place;
      const { head: _, ...received } = tried.received;
      const arrival = { ...received, ...(typeof trace === 'string' && { trace }), data: tried.data };
      this.#hand({ ...arrival, order: ++this.#order, place, from: 'stream' });
      return;
    }
    if (this.#taken === undefined || sha256 !== this.#taken.sha256) {
      this.reconnect('the control plane speaks of a configuration that is not here');
      return;
    }
    this.#floor = place;
    this.#move(place, this.#taken);
  }

  /** The same content once more: nothing to compile, but it is live at a new place. */
  #move(place: LogPlace | undefined, { config }: ReceivedConfig): void {
    const taken = this.#taken;
    if (taken === undefined) return;
    const moved = { ...taken, place, config: { ...taken.config, ...config }, from: 'stream' } as const;
    this.#taken = moved;
    if (this.#open.has(moved.order)) this.#open.set(moved.order, moved);
    if (this.#installed?.order !== moved.order) return;
    this.#installed = moved;
    for (const observer of this.#observers) observer.confirmed(moved);
  }

  #isOlder(place: LogPlace | undefined): boolean {
    const floor = this.#floor;
    if (place === undefined || floor === undefined || place.clusterId !== floor.clusterId) return false;
    return place.index < floor.index;
  }

  #hand(arrival: Arrival): void {
    this.#taken = arrival;
    this.#open.set(arrival.order, arrival);
    const index = arrival.place?.index ?? arrival.order;
    const { config, order, from, trace } = arrival;
    // A cached configuration is installed because this process starts, not because a caller activated it.
    this.#current = { ...config, index, order, ...(from === 'stream' && trace !== undefined && { trace }) };
    for (const subscriber of [...this.#subscribers]) subscriber(this.#current);
  }
}

/** Without what may stand before the host: a password, in the URL of some. */
const shown = (url: string): string => new URL(url).origin;
