// Connection pool of one destination: idle connections per endpoint, the last used first; at most `maxConnsPerHost` in
// all. Further requests wait in order, up to a limit (contract.md §2.3, §7.9).
import type { PoolCallbacks } from '../message/upstream-stream.ts';
import { type DestinationState, unlimited } from '../shared/destination-state.ts';
import { Timed } from '../wheel.ts';
import type { OpeningTools } from './connect-attempt.ts';
import type { EndpointAddress } from './endpoint-address.ts';
import type { EndpointPool, IdleConnection, PoolOptions, PoolPlaces } from './endpoint-pool.ts';
import { newPool } from './protocol/pools.ts';
import type { UpstreamProtocol } from './protocol/upstream-protocol.ts';

/**
 * Interval of two checks, in milliseconds: waiting requests check whether another worker has released a connection,
 * and a pool with idle ones checks whether a request waits in another worker.
 */
const checkMs = 50;

export class DestinationPool extends Timed implements PoolPlaces {
  readonly protocol: UpstreamProtocol;
  readonly options: PoolOptions;
  readonly tools: OpeningTools;
  readonly #endpoints = new Map<string, EndpointPool>();
  readonly #waiting: { readonly taker: PoolCallbacks; readonly endpoint: EndpointPool }[] = [];
  /** Open or opening ones are counted here. Invariant: at most `connectionsMax` in the process, unless that is 0. */
  readonly #state: DestinationState;
  #closed = false;
  /** `onDeadline` is going to look who waits, here and elsewhere. */
  #checkArmed = false;

  constructor(state: DestinationState, protocol: UpstreamProtocol, options: PoolOptions, tools: OpeningTools) {
    super();
    this.#state = state;
    this.protocol = protocol;
    this.options = options;
    this.tools = tools;
  }

  /** The connections to that endpoint. */
  endpoint(address: EndpointAddress): EndpointPool {
    const known = this.#endpoints.get(address.name);
    if (known !== undefined) return known;
    const made = newPool(this.protocol, address, this);
    this.#endpoints.set(address.name, made);
    return made;
  }

  /** Endpoints of other names are none any more: idle connections end now, busy ones with their exchange. */
  retain(names: ReadonlySet<string>): void {
    for (const [name, endpoint] of this.#endpoints) {
      if (names.has(name)) continue;
      this.#endpoints.delete(name);
      endpoint.retire();
    }
  }

  /** A connection of the endpoint that has room, a new one, or a place in the queue. */
  take(endpoint: EndpointPool, taker: PoolCallbacks): void {
    const ready = endpoint.takeReady(taker);
    if (ready !== undefined) {
      taker.onConnection(ready);
      return;
    }
    if (endpoint.join(taker)) return;
    const { connectionsMax, waitingMax } = this.options;
    if (this.#state.openConnection(connectionsMax || unlimited) || this.#evictIdle()) endpoint.open(taker);
    else if (this.#state.enterQueue(waitingMax)) {
      this.#waiting.push({ taker, endpoint });
      this.#checkSoon();
    } else taker.onNoConnection('circuit_open', 'too many requests wait for a connection');
  }

  /** Removes the taker from the queue. A connection that is being opened for it is cancelled by its endpoint pool. */
  cancel(endpoint: EndpointPool, taker: PoolCallbacks): void {
    const place = this.#waiting.findIndex((waiting) => waiting.taker === taker);
    if (place >= 0) {
      this.#waiting.splice(place, 1);
      this.#state.leaveQueue();
    }
    endpoint.cancel(taker);
  }

  /**
   * Takes the place of a connection that one client has for itself; false when the destination has as many as it may.
   * `onGone` gives it back.
   */
  takePlace(): boolean {
    return this.#state.openConnection(this.options.connectionsMax || unlimited) || this.#evictIdle();
  }

  /** Offers a connection that has become idle; true when a waiting request has taken it. */
  handOver(endpoint: EndpointPool, connection: IdleConnection): boolean {
    const next = this.#nextWaiting();
    if (next === undefined) return this.#mayKeep() && !endpoint.retired ? false : this.#drop(connection);
    const isFit = this.options.proxyProtocol === undefined || connection.client === next.taker.client;
    if (isFit && next.endpoint === endpoint) next.taker.onConnection(connection.stream());
    else {
      // The place counts, not the connection: it goes to where the first in line wants to be.
      connection.close();
      next.endpoint.open(next.taker);
    }
    return true;
  }

  nextFor(endpoint: EndpointPool): PoolCallbacks | undefined {
    return this.#waiting[0]?.endpoint === endpoint ? this.#nextWaiting()?.taker : undefined;
  }

  /** A connection is gone, or was never opened. */
  onGone(): void {
    const next = this.#nextWaiting();
    if (next === undefined) this.#state.closeConnection();
    else next.endpoint.open(next.taker);
  }

  #nextWaiting() {
    if (this.#waiting.length === 0) return undefined;
    const next = this.#waiting.shift();
    this.#state.leaveQueue();
    return next;
  }

  override onDeadline(): void {
    this.#checkArmed = false;
    while (this.#waiting.length > 0 && this.#state.openConnection(this.options.connectionsMax || unlimited)) {
      const next = this.#nextWaiting();
      next?.endpoint.open(next.taker);
    }
    const waits = this.#waiting.length > 0;
    if (!waits && this.#state.waitedForElsewhere && this.#evictIdle()) this.#state.closeConnection();
    if (waits || this.#hasIdle()) this.#checkSoon();
  }

  #hasIdle(): boolean {
    for (const endpoint of this.#endpoints.values()) if (endpoint.hasIdle) return true;
    return false;
  }

  /** Idle connections end; busy ones when their exchange does. */
  close(): void {
    this.#closed = true;
    this.retain(new Set());
  }

  /** Returns whether an idle connection may stay: its place is not needed by another worker. */
  #mayKeep(): boolean {
    if (this.#closed || this.options.connectionsMax === 0) return !this.#closed;
    this.#checkSoon();
    return !this.#state.waitedForElsewhere;
  }

  /** A look is not put off by the next wish for one. Only where connections are limited. */
  #checkSoon(): void {
    if (this.#checkArmed) return;
    this.#checkArmed = true;
    this.tools.wheel.arm(this, checkMs);
  }

  #drop(connection: IdleConnection): true {
    connection.close();
    this.#state.closeConnection();
    return true;
  }

  /** Ends an idle connection of another endpoint: its place is the caller's. */
  #evictIdle(): boolean {
    for (const endpoint of this.#endpoints.values()) if (endpoint.endOldest()) return true;
    return false;
  }
}
