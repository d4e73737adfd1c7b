// Exchange context: given by a listener to its connections, and by them to their exchanges.
import type { DataPlaneSettings } from '../../settings/data-plane-settings.ts';
import type { Clock } from '../../util/clock.ts';
import type { ConsumerDirectory } from '../consumers/consumer-directory.ts';
import type { HeadLimits } from '../http1/head-parser.ts';
import type { TrustedProxies } from '../message/client-address.ts';
import type { ErrorDetail } from '../message/proxy-error.ts';
import type { ExchangeRequest } from '../message/request.ts';
import type { RoutedRequest, ServedSection } from '../message/routed-request.ts';
import type { ConfigRole, Figures } from '../shared/figures.ts';
import type { UnfinishedHeads } from '../socket/unfinished-heads.ts';
import type { ExchangeTraces } from '../tracing/exchange-traces.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import type { Wheel } from '../wheel.ts';
import type { ErrorPages, ExchangeEntry, Link } from './entry.ts';
import type { LocalReply, MiddlewareExchange, Tally } from './phase.ts';
import type { FoundMismatch, Verdict } from './verdict.ts';

/** Installed configuration that all listeners share; an install replaces it whole. */
export interface Installed {
  readonly table: {
    match(request: RoutedRequest): ExchangeEntry | undefined;
    /** Id of a table that decides by the head of a request alone; 0 or absent: it may need more. */
    readonly headTable?: number;
  };
  readonly upstreams: Upstreams;
  /** Consumers of the configuration. */
  readonly consumers: ConsumerDirectory;
  /** Listeners of the configuration; absent where there are none. */
  readonly listeners?: ServedListeners;
  /** Role of the configuration: the stable one, or a candidate. */
  readonly role: ConfigRole;
  /** True once the candidate's rollout has ended: its remaining exchanges count for no later candidate. */
  readonly isOver?: boolean;
  /** Undefined: no candidate is compared. */
  readonly shadow?: Shadow | undefined;
  /** Index, id and name of the configuration. */
  readonly snapshot: { readonly index: number; readonly id: string; readonly name: string };
}

/** Candidate that requests served by this configuration are matched against too. */
export interface Shadow {
  /**
   * Compares what becomes of a request that no middleware has seen yet. Returns the comparison when it waits for the
   * body, which the chain of `entry` reads.
   */
  take(
    request: ExchangeRequest,
    entry: ExchangeEntry | undefined,
    surroundings: ShadowSurroundings,
  ): PendingComparison | undefined;
}

export type ShadowSurroundings = Pick<ExchangeContext, 'dataPlane' | 'served' | 'settings'>;

export interface PendingComparison {
  /** Compares with as much as is there now. Called once. */
  settle(): void;
}

/** Settings of one listener; an install replaces them whole. Times in milliseconds, 0 = off. */
export interface ServeSettings {
  readonly headLimits: HeadLimits;
  readonly pathNormalization: 'enforce' | 'report';
  /**
   * Answer before routing to clients that did not come by https; undefined: requests are routed. It returns undefined for a
   * request without a host.
   */
  readonly redirect: ((request: RoutedRequest) => LocalReply | undefined) | undefined;
  /** True when requests for a host of another section than that of the server name are refused. */
  readonly strictSections: boolean;
  /** True when requests with two query parameters of one name are refused. */
  readonly uniqueParameters: boolean;
  readonly trusted: TrustedProxies;
  readonly serverName: string | undefined;
  readonly detail: ErrorDetail;
  /** Most bytes of a request body, where the route has no limit of its own; 0: none. */
  readonly bodyBytesMax: number;
  /** Undefined where the listener has none. */
  readonly errorPages?: ErrorPages | undefined;
  /** True when responses carry route, snapshot, endpoint and attempt. */
  readonly debugHeaders: boolean;
  /** Path that serves the metrics; undefined when there is none. */
  readonly metricsPath: string | undefined;
  /** Clients that may read the metrics; undefined for all. */
  readonly metricsClients: TrustedProxies | undefined;
  readonly clientHeaderMs: number;
  readonly clientRequestMs: number;
  /** Time from the first to the last byte of a response; 0 when the listener sets none. */
  readonly clientResponseMs: number;
  /** Time in which a client may take nothing of a pending response, when `clientResponseMs` is 0. */
  readonly clientStallMs: number;
  readonly idleMs: number;
  /** Time that a tunnel may carry nothing. */
  readonly idleTunnelMs: number;
  /** True when HTTP/2 with prior knowledge is served beside HTTP/1.1. */
  readonly http2: boolean;
  /** Streams per connection of HTTP/2. */
  readonly streamsMax: number;
  readonly resetsPerSecond: number;
}

/** Observer of the exchanges of a listener with metrics. */
export interface ExchangeObserver {
  /** True when the run time of middlewares is measured. */
  readonly timesMiddlewares: boolean;
  onMatch(entry: ExchangeEntry): void;
  /** Called once per exchange that chose an endpoint. */
  onEndpoint(destinationId: string): void;
  /** Called when nothing was sent to the chosen endpoint: the exchange counts as one that chose none. */
  onNoEndpoint(destinationId: string): void;
  /** Called for a retry; `retry` counts from 1. */
  onRetry(entry: ExchangeEntry, retry: number): void;
  onMirror(entry: ExchangeEntry, destinationId: string): void;
  /** Called once per copy whose responses were to be compared. */
  onVerdict(entry: ExchangeEntry, destinationId: string, verdict: Verdict): void;
  /**
   * Called after one run, both phases together. `rejectedWith`: status of the middleware's own response; 0 when it
   * let the exchange go on.
   */
  onMiddleware(link: Link, seconds: number, rejectedWith: number): void;
  /** Called for a count of a middleware itself. */
  onTally(link: Link, count: Tally, value: string, by: number): void;
  /** Called when an error page takes the place of a body. */
  onErrorPage(status: number): void;
  /**
   * Called once at the end. `matched` is undefined for a request that no entry matched, or that was refused before
   * matching.
   */
  onFinish(exchange: MiddlewareExchange, matched: ExchangeEntry | undefined): void;
}

/** Log of exchanges that have ended. */
interface RequestLog {
  /** @param wasRead false: the request could not be read, and its object holds another one. */
  note(
    exchange: MiddlewareExchange,
    entry: ExchangeEntry | undefined,
    nowMs: number,
    wasRead: boolean,
    chain: RanChain,
  ): void;
}

/** Links of an exchange that ran, outermost first. */
export interface RanChain {
  readonly count: number;
  /** Place among the links of the entry. */
  slotAt(place: number): number;
  /** Returns whether the link refused the exchange. */
  refusedAt(place: number): boolean;
}

/** Listeners of a configuration, as requests on them are matched. */
export interface ServedListeners {
  /** Returns the listener with the id at a place, `address:port`; without one, the first there. */
  at(place: string, id: string): ServedListener | undefined;
}

export interface ServedListener {
  /** Section of every host; undefined where hosts decide. */
  readonly whole: ServedSection | undefined;
  /** Most bytes of a request body, where the route has no limit of its own; 0: none. */
  readonly bodyBytesMax: number;
  sectionOf(host: string): ServedSection;
}

/** Scrape of metrics; `end` is called once the client has the reply, or is gone. */
export interface Scrape {
  readonly reply: Promise<LocalReply>;
  end(): void;
}

export interface ExchangeContext {
  readonly wheel: Wheel;
  readonly clock: Clock;
  readonly dataPlane: DataPlaneSettings;
  /** Returns the configuration that serves this request; each exchange calls it once. */
  installed(request: RoutedRequest): Installed;
  /** Returns the listener of a configuration that requests come in on, under the settings of the moment. */
  served(listeners: ServedListeners): ServedListener | undefined;
  settings(): ServeSettings;
  /** Returns the current observer; undefined without metrics. Each exchange calls it once. */
  observer(): ExchangeObserver | undefined;
  /** Incomplete request heads of the thread. */
  readonly heads: UnfinishedHeads;
  readonly figures: Figures;
  /** Request log; undefined when it is off. */
  readonly recent: RequestLog | undefined;
  /** Takes differences between the responses of a primary and its mirror. */
  readonly mismatches: (mismatch: FoundMismatch) => void;
  /** Undefined when tracing is off. */
  readonly traces: ExchangeTraces | undefined;
  /** Begins a scrape of the metrics of this listener, as its metrics path serves them. */
  scrape(): Scrape;
  /**
   * Reports a request that goes on with the path `sent`, because its listener only reports paths that are not
   * canonical.
   */
  reportPath(sent: string, canonical: string): void;
}
