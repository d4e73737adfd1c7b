// The connections to one endpoint that carry many exchanges at a time: the first one that has room takes the next, and
// those who come while a connection is being opened wait for that one together.

import type { ProxyErrorType } from '../../../errors.ts';
import { Http2ClientConnection, type Http2ConnectionOwner, streamsMax } from '../../http2/client/client-session.ts';
import type { ClientStream } from '../../http2/client/client-stream.ts';
import type { PoolCallbacks } from '../../message/upstream-stream.ts';
import type { ByteSocket } from '../../socket/byte-socket.ts';
import type { UpstreamSecurity } from '../../tls/upstream-security.ts';
import { Deadline } from '../../wheel.ts';
import { ConnectAttempt, type OpeningOwner } from '../connect-attempt.ts';
import { ConnectionLife } from '../connection-life.ts';
import type { EndpointAddress } from '../endpoint-address.ts';
import type { EndpointPool, PoolPlaces } from '../endpoint-pool.ts';
import { ExclusivePool } from './exclusive-pool.ts';
import { http1 } from './http1.ts';

export class SharedPool implements EndpointPool, Http2ConnectionOwner, OpeningOwner {
  retired = false;
  readonly #address: EndpointAddress;
  readonly #pool: PoolPlaces;
  readonly #connections: Http2ClientConnection[] = [];
  readonly #life: ConnectionLife;
  /** By connection: the address it was made to, and what ends its time. */
  readonly #lives = new Map<Http2ClientConnection, { readonly address: string; readonly aged: Deadline }>();
  readonly #opening = new Map<ConnectAttempt, Crowd>();
  /** For what HTTP/2 does not take there; made when something asks for it. */
  #http1: ExclusivePool | undefined;

  constructor(address: EndpointAddress, pool: PoolPlaces) {
    this.#address = address;
    this.#pool = pool;
    const { tools, options } = pool;
    this.#life = new ConnectionLife(address.host, tools.names, options.maxAgeMs, () => this.#leaveAddresses());
  }

  get hasIdle(): boolean {
    return this.#connections.some(({ idle }) => idle) || this.#http1?.hasIdle === true;
  }

  takeReady(): ClientStream | undefined {
    for (const connection of this.#connections) if (connection.room > 0) return connection.stream();
    return undefined;
  }

  join(taker: PoolCallbacks): boolean {
    for (const crowd of this.#opening.values()) {
      if (crowd.takers.length >= streamsMax) continue;
      crowd.takers.push(taker);
      return true;
    }
    return false;
  }

  open(taker: PoolCallbacks): void {
    const { options, tools } = this.#pool;
    const crowd = new Crowd(taker);
    const opening = new ConnectAttempt(crowd, this.#address, this, options, tools);
    this.#opening.set(opening, crowd);
  }

  cancel(taker: PoolCallbacks): void {
    for (const [opening, { takers }] of this.#opening) {
      const place = takers.indexOf(taker);
      if (place < 0) continue;
      takers.splice(place, 1);
      if (takers.length === 0) opening.abort();
      return;
    }
  }

  endOldest(): boolean {
    const oldest = this.#connections.find(({ idle }) => idle);
    if (oldest !== undefined) this.#forget(oldest);
    oldest?.close();
    return oldest !== undefined || this.#http1?.endOldest() === true;
  }

  closeIdle(): void {
    for (const connection of this.#connections.filter(({ idle }) => idle)) {
      this.#forget(connection);
      connection.close();
      this.#pool.onGone();
    }
    this.#http1?.closeIdle();
  }

  retire(): void {
    this.retired = true;
    this.#http1?.retire();
    this.closeIdle();
    for (const connection of [...this.#connections]) connection.retire();
  }

  onOpened(opening: ConnectAttempt, socket: ByteSocket): void {
    const crowd = this.#opening.get(opening);
    this.#opening.delete(opening);
    const { options, tools } = this.#pool;
    const connection = new Http2ClientConnection(socket, this, {
      wheel: tools.wheel,
      responseHeaderMs: options.responseHeaderMs,
      idleMs: options.idleMs,
    });
    this.#connections.push(connection);
    const aged = new Deadline(() => connection.retire());
    const { ageMs } = this.#life;
    if (ageMs > 0) tools.wheel.arm(aged, ageMs);
    this.#lives.set(connection, { address: opening.remoteAddress, aged });
    this.#life.opened(socket);
    for (const taker of crowd?.takers.splice(0) ?? []) {
      if (connection.room > 0) taker.onConnection(connection.stream());
      else this.#pool.take(this, taker);
    }
    if (this.retired) connection.retire();
    else this.onRoom(connection);
  }

  onNotOpened(opening: ConnectAttempt): void {
    this.#opening.delete(opening);
    this.#pool.onGone();
  }

  onRoom(connection: Http2ClientConnection): void {
    while (connection.room > 0) {
      const taker = this.#pool.nextFor(this);
      if (taker === undefined) return;
      taker.onConnection(connection.stream());
    }
  }

  onIdle(connection: Http2ClientConnection): void {
    this.onRoom(connection);
    if (!connection.idle || connection.room === 0 || !this.#connections.includes(connection)) return;
    if (this.#pool.handOver(this, connection) && connection.ended) this.#forget(connection);
  }

  /**
   * Falls back to HTTP/1.1. Under TLS an endpoint may be asked for it; in cleartext it is unknown whether the endpoint
   * understands it.
   */
  takeHttp1(taker: PoolCallbacks): boolean {
    const { options } = this.#pool;
    if (options.security === undefined) return false;
    this.#http1 ??= new ExclusivePool(this.#address, withHttp1(this.#pool, options.security));
    this.#pool.take(this.#http1, taker);
    return true;
  }

  cancelHttp1(taker: PoolCallbacks): void {
    if (this.#http1 !== undefined) this.#pool.cancel(this.#http1, taker);
  }

  onGone(connection: Http2ClientConnection): void {
    this.#forget(connection);
    this.#pool.onGone();
  }

  #leaveAddresses(): void {
    for (const [connection, { address }] of [...this.#lives]) {
      if (!this.#life.isCurrent(address)) connection.retire();
    }
  }

  #forget(connection: Http2ClientConnection): void {
    const life = this.#lives.get(connection);
    this.#lives.delete(connection);
    if (life !== undefined) this.#pool.tools.wheel.remove(life.aged);
    const place = this.#connections.indexOf(connection);
    if (place >= 0) this.#connections.splice(place, 1);
  }
}

/** The same places, for connections that speak HTTP/1.1. */
function withHttp1(pool: PoolPlaces, security: UpstreamSecurity): PoolPlaces {
  return {
    options: { ...pool.options, security: security.offering(http1) },
    tools: pool.tools,
    handOver: (endpoint, connection) => pool.handOver(endpoint, connection),
    nextFor: (endpoint) => pool.nextFor(endpoint),
    take: (endpoint, taker) => pool.take(endpoint, taker),
    cancel: (endpoint, taker) => pool.cancel(endpoint, taker),
    onGone: () => pool.onGone(),
  };
}

/** Everyone who waits for one connection that is being opened. */
class Crowd implements PoolCallbacks {
  readonly takers: PoolCallbacks[];

  constructor(first: PoolCallbacks) {
    this.takers = [first];
  }

  onConnection(): void {}

  onNoConnection(type: ProxyErrorType, message: string): void {
    for (const taker of this.takers.splice(0)) taker.onNoConnection(type, message);
  }
}
