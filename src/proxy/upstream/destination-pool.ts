// The connections to one destination: idle ones per endpoint, the last used first; at most `maxConnsPerHost` in all,
// whoever comes then waits in order, and not more than may wait (contract.md §2.3, §7.9).
import { connect } from 'node:net';
import type { ProxyErrorType } from '../../errors.ts';
import { ClientConnection, type ConnectionOwner } from '../http1/client-connection.ts';
import { Timed, type Wheel } from '../wheel.ts';
import type { NameLookup } from './name-lookup.ts';

/** Whoever needs a connection. Exactly one of the two is called, perhaps before `take` returns. */
export interface ConnectionTaker {
  onConnection(connection: ClientConnection): void;
  onNoConnection(type: ProxyErrorType, message: string): void;
}

export interface PoolOptions {
  /** 0 = no limit. */
  readonly connectionsMax: number;
  readonly waitingMax: number;
  /** Milliseconds; 0 = no limit, for the fallback: no delay. */
  readonly connectMs: number;
  readonly dualStackFallbackMs: number;
  readonly responseHeaderMs: number;
  readonly idleMs: number;
}

export interface PoolTools {
  readonly wheel: Wheel;
  readonly names: NameLookup;
}

export interface EndpointAddress {
  readonly host: string;
  readonly port: number;
}

/** Idle connections kept per endpoint; beyond, the oldest goes. */
const idleMax = 1_024;

export class DestinationPool {
  readonly options: PoolOptions;
  readonly tools: PoolTools;
  readonly #endpoints: EndpointPool[];
  readonly #waiting: { readonly taker: ConnectionTaker; readonly endpoint: EndpointPool }[] = [];
  /** Open or opening. Invariant: at most `connectionsMax`, unless that is 0. */
  #connections = 0;
  #closed = false;

  constructor(addresses: readonly EndpointAddress[], options: PoolOptions, tools: PoolTools) {
    this.options = options;
    this.tools = tools;
    this.#endpoints = addresses.map((address) => new EndpointPool(address, this));
  }

  get endpoints(): readonly EndpointPool[] {
    return this.#endpoints;
  }

  /** An idle connection of the endpoint, a new one, or a place in the queue. */
  take(endpoint: EndpointPool, taker: ConnectionTaker): void {
    const idle = endpoint.takeIdle();
    if (idle !== undefined) {
      taker.onConnection(idle);
      return;
    }
    const { connectionsMax, waitingMax } = this.options;
    if (connectionsMax === 0 || this.#connections < connectionsMax || this.#evictIdle()) {
      this.#connections++;
      endpoint.open(taker);
    } else if (this.#waiting.length < waitingMax) this.#waiting.push({ taker, endpoint });
    else taker.onNoConnection('circuit_open', 'too many requests wait for a connection');
  }

  /** Gives up a place in the queue. A connection that is being opened for the taker is the endpoint's affair. */
  cancel(taker: ConnectionTaker): void {
    const place = this.#waiting.findIndex((waiting) => waiting.taker === taker);
    if (place >= 0) this.#waiting.splice(place, 1);
    for (const endpoint of this.#endpoints) endpoint.cancel(taker);
  }

  /** A connection has become idle; true when somebody who waited has it now. */
  handOver(endpoint: EndpointPool, connection: ClientConnection): boolean {
    const next = this.#waiting[0];
    if (next === undefined) return this.#closed ? this.#drop(connection) : false;
    this.#waiting.shift();
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
    const next = this.#waiting.shift();
    if (next === undefined) this.#connections--;
    else next.endpoint.open(next.taker);
  }

  /** Idle connections end; busy ones when their exchange does. */
  close(): void {
    this.#closed = true;
    for (const endpoint of this.#endpoints) endpoint.closeIdle();
  }

  #drop(connection: ClientConnection): true {
    connection.close();
    this.#connections--;
    return true;
  }

  #evictIdle(): boolean {
    for (const endpoint of this.#endpoints) {
      const oldest = endpoint.takeOldest();
      if (oldest === undefined) continue;
      oldest.close();
      this.#connections--;
      return true;
    }
    return false;
  }
}

export class EndpointPool implements ConnectionOwner {
  /** `host:port`, as in errors and labels. */
  readonly name: string;
  readonly #address: EndpointAddress;
  readonly #pool: DestinationPool;
  readonly #idle: ClientConnection[] = [];
  readonly #opening = new Set<Opening>();

  constructor(address: EndpointAddress, pool: DestinationPool) {
    this.#address = address;
    this.#pool = pool;
    this.name = `${address.host.includes(':') && !address.host.startsWith('[') ? `[${address.host}]` : address.host}:${address.port}`;
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

  takeOldest(): ClientConnection | undefined {
    return this.#idle.shift();
  }

  open(taker: ConnectionTaker): void {
    this.#opening.add(new Opening(taker, this.#address, this.#pool, this, (opening) => this.#opening.delete(opening)));
  }

  cancel(taker: ConnectionTaker): void {
    for (const opening of this.#opening) if (opening.taker === taker) opening.abandon();
  }

  closeIdle(): void {
    for (const connection of this.#idle.splice(0)) {
      connection.close();
      this.#pool.onGone();
    }
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

/** A connection on its way to being one. */
class Opening extends Timed {
  readonly taker: ConnectionTaker;
  readonly #pool: DestinationPool;
  readonly #done: (opening: Opening) => void;
  readonly #socket;
  #settled = false;

  constructor(
    taker: ConnectionTaker,
    { host, port }: EndpointAddress,
    pool: DestinationPool,
    owner: EndpointPool,
    done: (opening: Opening) => void,
  ) {
    super();
    this.taker = taker;
    this.#pool = pool;
    this.#done = done;
    const { options, tools } = pool;
    this.#socket = connect({
      host: host.replace(/^\[(.*)\]$/, '$1'),
      port,
      noDelay: true,
      lookup: tools.names.lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: Math.max(10, options.dualStackFallbackMs),
    });
    if (options.connectMs > 0) tools.wheel.arm(this, options.connectMs);
    this.#socket.once('error', (error: NodeJS.ErrnoException) =>
      this.#fail(typeOf(error), error.code ?? error.message),
    );
    this.#socket.once('connect', () => {
      if (this.#settled) return;
      this.#settle();
      this.#socket.removeAllListeners('error');
      taker.onConnection(
        new ClientConnection(this.#socket, owner, { wheel: tools.wheel, responseHeaderMs: options.responseHeaderMs }),
      );
    });
  }

  /** Nobody waits any more. */
  abandon(): void {
    if (this.#settled) return;
    this.#settle();
    this.#socket.destroy();
    this.#pool.onGone();
  }

  override onDeadline(): void {
    this.#fail('timeout', 'not connected in time');
  }

  #fail(type: ProxyErrorType, message: string): void {
    if (this.#settled) return;
    this.#settle();
    this.#socket.on('error', () => {});
    this.#socket.destroy();
    this.#pool.onGone();
    this.taker.onNoConnection(type, message);
  }

  #settle(): void {
    this.#settled = true;
    this.#pool.tools.wheel.remove(this);
    this.#done(this);
  }
}

const dnsCodes = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NONAME', 'ENODATA']);

/** contract.md §9: what is not a name or a time is a refusal. */
function typeOf({ code = '' }: NodeJS.ErrnoException): ProxyErrorType {
  if (dnsCodes.has(code)) return 'dns_failure';
  return code === 'ETIMEDOUT' ? 'timeout' : 'connection_refused';
}
