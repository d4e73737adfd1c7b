// Records of recent requests, as processes keep them and tell them to one another.
import type { RecentCounts, RecentRequest } from './answers/request-answers.ts';
import type { ChainCount } from './traffic-report.ts';

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
