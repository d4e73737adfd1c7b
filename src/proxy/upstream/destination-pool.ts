// The connections to one destination: idle ones per endpoint, the last used first; at most `maxConnsPerHost` in all,
// whoever comes then waits in order, and not more than may wait (contract.md §2.3, §7.9).
import { ClientConnection, type ConnectionOwner } from '../http1/client-connection.ts';
import { type DestinationState, unlimited } from '../shared/destination-state.ts';
import type { Wire } from '../socket/wire.ts';
import { Timed } from '../wheel.ts';
import type { EndpointAddress } from './endpoint-address.ts';
import { type ConnectionTaker, Opening, type OpeningOptions, type OpeningOwner, type OpeningTools } from './opening.ts';

export interface PoolOptions extends OpeningOptions {
  /** In the whole process; 0 = no limit. */
  readonly connectionsMax: number;
  /** Requests that wait for a connection, in the whole process. */
  readonly waitingMax: number;
  /** Milliseconds; 0 = no limit. */
  readonly responseHeaderMs: number;
  readonly idleMs: number;
}

/** Idle connections kept per endpoint; beyond, the oldest goes. */
const idleMax = 1_024;

/**
 * How often those who wait look whether another worker has let go of a connection, and a pool with idle ones whether
 * somebody in another worker waits.
 */
const lookMs = 50;

export class DestinationPool extends Timed {
  readonly options: PoolOptions;
  readonly tools: OpeningTools;
  readonly #endpoints = new Map<string, EndpointPool>();
  readonly #waiting: { readonly taker: ConnectionTaker; readonly endpoint: EndpointPool }[] = [];
  /** Open or opening ones are counted here. Invariant: at most `connectionsMax` in the process, unless that is 0. */
  readonly #state: DestinationState;
  #closed = false;
  /** `onDeadline` is going to look who waits, here and elsewhere. */
  #looks = false;

  constructor(state: DestinationState, options: PoolOptions, tools: OpeningTools) {
    super();
    this.#state = state;
    this.options = options;
    this.tools = tools;
  }

  /** The connections to that endpoint. */
  endpoint(address: EndpointAddress): EndpointPool {
    const known = this.#endpoints.get(address.name);
    if (known !== undefined) return known;
    const made = new EndpointPool(address, this);
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

  /** An idle connection of the endpoint, a new one, or a place in the queue. */
  take(endpoint: EndpointPool, taker: ConnectionTaker): void {
    const idle = endpoint.takeIdle();
    if (idle !== undefined) {
      taker.onConnection(idle);
      return;
    }
    const { connectionsMax, waitingMax } = this.options;
    if (this.#state.openConnection(connectionsMax || unlimited) || this.#evictIdle()) endpoint.open(taker);
    else if (this.#state.enterQueue(waitingMax)) {
      this.#waiting.push({ taker, endpoint });
      this.#lookSoon();
    } else taker.onNoConnection('circuit_open', 'too many requests wait for a connection');
  }

  /** Gives up a place in the queue. A connection that is being opened for the taker is the endpoint's affair. */
  cancel(endpoint: EndpointPool, taker: ConnectionTaker): void {
    const place = this.#waiting.findIndex((waiting) => waiting.taker === taker);
    if (place >= 0) {
      this.#waiting.splice(place, 1);
      this.#state.leaveQueue();
    }
    endpoint.cancel(taker);
  }

  /** A connection has become idle; true when somebody who waited has it now. */
  handOver(endpoint: EndpointPool, connection: ClientConnection): boolean {
    const next = this.#nextWaiting();
    if (next === undefined) return this.#mayKeep() && !endpoint.retired ? false : this.#drop(connection);
    if (next.endpoint === endpoint) next.taker.onConnection(connection);
    else {
      // The place counts, not the connection: it goes to where the first in line wants to be.
      connection.close();
      next.endpoint.open(next.taker);
    }
    return true;
  }

  /** A connection is gone, or was never opened. */
  onGone(): void {
    const next = this.#nextWaiting();
    if (next === undefined) this.#state.closeConnection();
    else next.endpoint.open(next.taker);
  }

  #nextWaiting() {
    const next = this.#waiting.shift();
    if (next !== undefined) this.#state.leaveQueue();
    return next;
  }

  override onDeadline(): void {
    this.#looks = false;
    while (this.#waiting.length > 0 && this.#state.openConnection(this.options.connectionsMax || unlimited)) {
      const next = this.#nextWaiting();
      next?.endpoint.open(next.taker);
    }
    const waits = this.#waiting.length > 0;
    if (!waits && this.#state.waitedForElsewhere && this.#evictIdle()) this.#state.closeConnection();
    if (waits || this.#hasIdle()) this.#lookSoon();
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

  /** An idle connection stays for as long as nobody else wants its place. */
  #mayKeep(): boolean {
    if (this.#closed || this.options.connectionsMax === 0) return !this.#closed;
    this.#lookSoon();
    return !this.#state.waitedForElsewhere;
  }

  /** A look is not put off by the next wish for one. Only where connections are limited. */
  #lookSoon(): void {
    if (this.#looks) return;
    this.#looks = true;
    this.tools.wheel.arm(this, lookMs);
  }

  #drop(connection: ClientConnection): true {
    connection.close();
    this.#state.closeConnection();
    return true;
  }

  /** Ends an idle connection of another endpoint: its place is the caller's. */
  #evictIdle(): boolean {
    for (const endpoint of this.#endpoints.values()) {
      const oldest = endpoint.takeOldest();
      if (oldest === undefined) continue;
      oldest.close();
      return true;
    }
    return false;
  }
}

export class EndpointPool implements ConnectionOwner, OpeningOwner {
  /** Nobody is to use it again. */
  retired = false;
  readonly #address: EndpointAddress;
  readonly #pool: DestinationPool;
  readonly #idle: ClientConnection[] = [];
  readonly #opening = new Set<Opening>();

  constructor(address: EndpointAddress, pool: DestinationPool) {
    this.#address = address;
    this.#pool = pool;
  }

  takeIdle(): ClientConnection | undefined {
    for (;;) {
      const connection = this.#idle.pop();
      if (connection === undefined) return undefined;
      if (connection.usable) return connection;
      connection.close();
      this.#pool.onGone();
    }
  }

  get hasIdle(): boolean {
    return this.#idle.length > 0;
  }

  takeOldest(): ClientConnection | undefined {
    return this.#idle.shift();
  }

  open(taker: ConnectionTaker): void {
    const { options, tools } = this.#pool;
    this.#opening.add(new Opening(taker, this.#address, this, options, tools));
  }

  cancel(taker: ConnectionTaker): void {
    for (const opening of this.#opening) if (opening.taker === taker) opening.abandon();
  }

  retire(): void {
    this.retired = true;
    this.closeIdle();
  }

  closeIdle(): void {
    for (const connection of this.#idle.splice(0)) {
      connection.close();
      this.#pool.onGone();
    }
  }

  onOpened(opening: Opening, socket: Wire): void {
    this.#opening.delete(opening);
    const { tools, options } = this.#pool;
    const connection = new ClientConnection(socket, this, {
      wheel: tools.wheel,
      responseHeaderMs: options.responseHeaderMs,
    });
    opening.taker.onConnection(connection);
  }

  onNotOpened(opening: Opening): void {
    this.#opening.delete(opening);
    this.#pool.onGone();
  }

  onRelease(connection: ClientConnection, reusable: boolean): void {
    if (!reusable) {
      this.#pool.onGone();
      return;
    }
    if (this.#pool.handOver(this, connection)) return;
    const { idleMs } = this.#pool.options;
    if (idleMs > 0) this.#pool.tools.wheel.arm(connection, idleMs);
    else this.#pool.tools.wheel.disarm(connection);
    this.#idle.push(connection);
    if (this.#idle.length > idleMax) {
      this.#idle.shift()?.close();
      this.#pool.onGone();
    }
  }

  onIdleEnd(connection: ClientConnection): void {
    const place = this.#idle.lastIndexOf(connection);
    if (place < 0) return;
    this.#idle.splice(place, 1);
    this.#pool.onGone();
  }
}
