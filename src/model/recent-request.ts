// One request as the list of recent requests shows it: enough to see what was answered, and to match it again later.
// Nothing that could be a credential is kept: of the query and of the header fields only the values that the settings
// name.
import type { ChainCount } from './traffic-report.ts';

export interface RecentRequest {
  /** Time at which the head of the request was complete, RFC 3339 UTC. */
  readonly time: string;
  readonly method: string;
  readonly scheme: 'http' | 'https';
  /** Without port. */
  readonly host: string;
  /** Canonical, without the query. */
  readonly path: string;
  /** Names of the query's parameters as sent, in order. */
  readonly params: readonly string[];
  /** First values of the parameters that `telemetry.recentRequestQuery` lists, decoded, by their names. */
  readonly query: Readonly<Record<string, string>>;
  /** First values of the fields that `telemetry.recentRequestHeaders` lists, by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** `HTTP/1.0`, `HTTP/1.1`, `HTTP/2.0` */
  readonly protocol: string;
  /** 499 for a client that was gone before its answer began. */
  readonly status: number;
  /** Name of the listener that it came in on; empty for what could not be read. */
  readonly listener: string;
  readonly listenerId: string;
  /** Name of the section of its host; empty where the listener has none. */
  readonly section: string;
  /** Name of the route that won it; empty when none did. */
  readonly route: string;
  readonly routeId: string;
  readonly group: string;
  /** Id. */
  readonly destination: string;
  /** `host:port` */
  readonly endpoint: string;
  readonly attempts: number;
  /** From the head of the request to the end of the response; the sum of the four phases. */
  readonly durationMs: number;
  /** Phase before the last attempt: middlewares, choices and earlier attempts; without an attempt all of `durationMs`. */
  readonly proxyMs: number;
  /** Phase in which the last attempt had no connection: queued, or connecting. */
  readonly connectMs: number;
  /** Phase from the connection of the last attempt to its response head. */
  readonly firstByteMs: number;
  /** Phase from the response head to the end. */
  readonly transferMs: number;
  /** Log index of the configuration that served it. */
  readonly snapshotIndex: number;
  readonly role: 'stable' | 'candidate';
  /** Type of the proxy error that answered it; empty when none did. */
  readonly error: string;
  /** Number of similar requests that this one represents; 1 when every request is kept. */
  readonly oneIn: number;
}

/** Recent request to be matched again. */
export interface RecordedRequest extends RecentRequest {
  /** Method, host or path is longer than what is kept, or the request could not be read: what it matches is unknown. */
  readonly isCut: boolean;
  /** Parameters without a value, and those beyond the limits, are not in `params`. */
  readonly lacksParams: boolean;
}

/** Records of one process, newest first, and what they are able to tell. */
export interface RecordedPage {
  /** Names of the fields whose values are kept, in lower case. */
  readonly headers: readonly string[];
  /** Names of the parameters whose values are kept. */
  readonly query: readonly string[];
  readonly requests: readonly RecordedRequest[];
  /** Number before which the next page begins; null: there are no older requests. */
  readonly before: number | null;
}

/** Records with the names of which values are kept. */
export type RecordedBatch = Pick<RecordedPage, 'headers' | 'query' | 'requests'>;

/** Part of a request that counts of routes and destinations are made of. */
export interface RequestSample extends Pick<RecentRequest, 'durationMs' | 'oneIn' | 'status' | 'destination'> {
  readonly isProxyError: boolean;
  /** Empty when no route won it. */
  readonly routeId: string;
}

/** Share of the traffic that the list holds. */
export interface RecentCounts {
  /** Requests that have ended since the start of the process. */
  readonly seen: number;
  /** Number of those that were kept; older ones have been overwritten since. */
  readonly kept: number;
  /** At the moment one in so many is kept, in the thread that keeps the fewest; of answers from 500 on, another rate. */
  readonly oneIn: number;
  readonly oneInOfErrors: number;
}

/** Requests that ended last in this process, in the order in which they ended. */
export interface RecentSource {
  /** Number of requests that are remembered; 0: none. */
  readonly capacity: number;
  readonly counts: RecentCounts;
  /**
   * Lists at most `limit` requests for which `passes` is true, latest first. Runs in time slices beside the other work
   * of the thread.
   */
  list(limit: number, passes: (request: RecentRequest) => boolean): Promise<RecentRequest[]>;
  /**
   * Returns at most `limit` requests for which `passes` is true, latest first, from before a number; undefined: from the
   * latest on. In time slices as above.
   */
  page(limit: number, passes: (request: RecentRequest) => boolean, before?: number): Promise<RecordedPage>;
  /** Number of the next one. */
  readonly end: number;
  /** Undefined when it is not here yet, or not any more. */
  at(number: number): RecentRequest | undefined;
  /** Undefined as of `at`; cheaper. */
  sample(number: number): RequestSample | undefined;
  /**
   * Returns Unix milliseconds of the last request of a route, by its id, or of a destination, by `destination/<id>`;
   * undefined when none is known.
   */
  lastHit(subject: string): number | undefined;
  /** Returns the key of a subject in `hitsSince`, the same in every process. */
  hitKey(subject: string): string;
  /** Returns the runs of a middleware in the chain of a route since the start of the process. */
  chainCount(routeId: string, middlewareId: string): ChainCount;
  /** Returns the key of those runs in `chainCounts`, the same in every process. */
  chainKey(routeId: string, middlewareId: string): string;
  /** Returns all runs since the start of the process, by their keys. */
  chainCounts(): ReadonlyMap<string, ChainCount>;
  /** Returns up to `most` subjects with a request after a time, by their keys, longest ago first. */
  hitsSince(ms: number, most: number): readonly (readonly [key: string, ms: number])[];
}
