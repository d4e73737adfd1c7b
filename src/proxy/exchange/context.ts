// What a listener gives to the connections it accepts, and they to their exchanges.
import type { Clock } from '../../util/clock.ts';
import type { HeadLimits } from '../http1/head-parser.ts';
import type { TrustedProxies } from '../message/client-address.ts';
import type { ErrorDetail } from '../message/proxy-error.ts';
import type { RoutedRequest } from '../message/routed-request.ts';
import type { ConfigRole, Figures } from '../shared/figures.ts';
import type { UnfinishedHeads } from '../socket/unfinished-heads.ts';
import type { ExchangeTraces } from '../tracing/exchange-traces.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import type { Wheel } from '../wheel.ts';
import type { ExchangeEntry, Link } from './entry.ts';
import type { LocalReply, MiddlewareExchange } from './phase.ts';

/** What all listeners share; replaced whole by an install. */
export interface Installed {
  readonly table: {
    match(request: RoutedRequest): ExchangeEntry | undefined;
    /** Names a table that decides by the head of a request alone; 0 or absent: it may look at more. */
    readonly headTable?: number;
  };
  readonly upstreams: Upstreams;
  /** Whether it is what everybody gets, or is being tried on some. */
  readonly role: ConfigRole;
  /** It is not on trial any more: what is still under way says nothing of the next one. */
  readonly isOver?: boolean;
  /** Which configuration this is. */
  readonly snapshot: { readonly index: number; readonly id: string; readonly name: string };
}

/** What one listener adds; replaced whole by an install. Times in milliseconds, 0 = off. */
export interface ServeSettings {
  readonly headLimits: HeadLimits;
  readonly pathNormalization: 'enforce' | 'report';
  /** Requests with a query parameter of one name twice are refused. */
  readonly uniqueParameters: boolean;
  readonly trusted: TrustedProxies;
  readonly serverName: string | undefined;
  readonly detail: ErrorDetail;
  /** Responses say which route, snapshot and endpoint made them, and at which try. */
  readonly debugHeaders: boolean;
  /** Path that is answered with what was counted; undefined when nothing is. */
  readonly metricsPath: string | undefined;
  readonly clientHeaderMs: number;
  readonly clientRequestMs: number;
  /** From the first to the last byte of a response; 0 when the listener does not say. */
  readonly clientResponseMs: number;
  /** How long a client may take none of the response that waits for it, when `clientResponseMs` is 0. */
  readonly clientStallMs: number;
  readonly idleMs: number;
  /** How long a tunnel may carry nothing. */
  readonly idleTunnelMs: number;
  /** HTTP/2 with prior knowledge is understood beside HTTP/1.1. */
  readonly http2: boolean;
  /** Per connection of HTTP/2. */
  readonly streamsMax: number;
  readonly resetsPerSecond: number;
}

/** Told of what becomes of every exchange of a listener that counts. */
export interface ExchangeObserver {
  /** Whether anybody asks how long middlewares take. */
  readonly timesMiddlewares: boolean;
  onMatch(entry: ExchangeEntry): void;
  /** Once per exchange that chose an endpoint. */
  onEndpoint(destinationId: string): void;
  /** Nothing was sent to the endpoint that it chose: it counts as none that chose one. */
  onNoEndpoint(destinationId: string): void;
  /** `retry` counts from 1. */
  onRetry(entry: ExchangeEntry, retry: number): void;
  onMirror(entry: ExchangeEntry, destinationId: string): void;
  /** One run, both phases together. `rejectedWith`: status of its own answer; 0 when it let the exchange go on. */
  onMiddleware(link: Link, seconds: number, rejectedWith: number): void;
  /** Once, when it is over. `matched` is undefined for what no entry won, or was refused before anybody looked. */
  onFinish(exchange: MiddlewareExchange, matched: ExchangeEntry | undefined): void;
}

/** Takes every exchange that is over. */
interface RequestMemory {
  /** @param wasRead false: the request could not be read, and what its object says is of another. */
  note(exchange: MiddlewareExchange, entry: ExchangeEntry | undefined, nowMs: number, wasRead: boolean): void;
}

export interface ExchangeContext {
  readonly wheel: Wheel;
  readonly clock: Clock;
  /** Bytes of a body that expressions may see; 0 = none (contract.md §1.4). */
  readonly celBodyBytesMax: number;
  /** Bytes of a body that are kept for another try. */
  readonly retryBytesMax: number;
  /** What serves this request now; each exchange asks once. */
  installed(request: RoutedRequest): Installed;
  settings(): ServeSettings;
  /** Undefined when nobody counts. Of this moment; each exchange asks once. */
  observer(): ExchangeObserver | undefined;
  /** Parts of request heads that the thread holds. */
  readonly heads: UnfinishedHeads;
  readonly figures: Figures;
  /** Remembers what has ended; undefined when nothing is remembered. */
  readonly recent: RequestMemory | undefined;
  /** Undefined: nothing is traced. */
  readonly traces: ExchangeTraces | undefined;
  /** Everything that was counted on this listener, as its metrics path answers it. */
  scrape(): Promise<LocalReply>;
  /** A request goes on with the path `sent`, because its listener only reports that it is not canonical. */
  reportPath(sent: string, canonical: string): void;
}
