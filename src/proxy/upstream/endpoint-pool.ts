// Interface between a destination and the connections to one endpoint, for each version of HTTP: the destination counts
// connections and queues the requests that wait.

import type { Lenience } from '../http1/lenience.ts';
import type { ClientEnds } from '../message/client-ends.ts';
import type { PoolCallbacks, UpstreamStream } from '../message/upstream-stream.ts';
import type { OpeningOptions, OpeningTools } from './connect-attempt.ts';

export interface PoolOptions extends OpeningOptions {
  /** In the whole process; 0 = no limit. */
  readonly connectionsMax: number;
  /** Requests that wait for a connection, in the whole process. */
  readonly waitingMax: number;
  /** Milliseconds; 0 = no limit. */
  readonly responseHeaderMs: number;
  readonly idleMs: number;
  /** A connection of that age takes no new request; milliseconds, 0 = no limit. */
  readonly maxAgeMs: number;
  /** Forms that responses of HTTP/1.1 are allowed; undefined: none. */
  readonly lenience: Lenience | undefined;
}

export interface EndpointPool {
  /** True when the pool may not be used for new requests. */
  readonly retired: boolean;
  readonly hasIdle: boolean;
  /** Returns a stream on a connection that is ready at once, and may serve the taker's client. */
  takeReady(taker: PoolCallbacks): UpstreamStream | undefined;
  /** Queues the taker for a connection that is being opened already. False: there is none. */
  join(taker: PoolCallbacks): boolean;
  /** Opens a connection, whose place is taken. */
  open(taker: PoolCallbacks): void;
  /** The taker does not wait for a connection that is being opened any more. */
  cancel(taker: PoolCallbacks): void;
  /** Ends the connection that has been idle for longest. Its place is the caller's. False: there is none. */
  endOldest(): boolean;
  closeIdle(): void;
  /** Idle connections end now, busy ones with their exchanges. */
  retire(): void;
}

/** A connection with nothing under way. */
export interface IdleConnection {
  /** Client that it serves alone; undefined: any, where upstreams are not told. */
  readonly client?: ClientEnds | undefined;
  stream(): UpstreamStream;
  /** Ends it without a word to its pool. */
  close(): void;
}

export interface PoolPlaces {
  readonly options: PoolOptions;
  readonly tools: OpeningTools;
  /** Offers a connection that has become idle; true when it has been given to a waiting request, or ended. */
  handOver(endpoint: EndpointPool, connection: IdleConnection): boolean;
  /** Returns the request that has waited longest, if it may use this endpoint; it has to be served now. */
  nextFor(endpoint: EndpointPool): PoolCallbacks | undefined;
  /** As if the taker had just come. */
  take(endpoint: EndpointPool, taker: PoolCallbacks): void;
  /** The taker does not wait any more. */
  cancel(endpoint: EndpointPool, taker: PoolCallbacks): void;
  /** A connection is gone, or was never opened. */
  onGone(): void;
}
