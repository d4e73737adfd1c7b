// The connections to one endpoint that carry one exchange at a time: idle ones, the last used first.

import { ClientConnection, type ConnectionOwner } from '../../http1/client/client-connection.ts';
import type { ClientEnds } from '../../message/client-ends.ts';
import type { PoolCallbacks } from '../../message/upstream-stream.ts';
import type { ByteSocket } from '../../socket/byte-socket.ts';
import { ConnectAttempt, type OpeningOwner } from '../connect-attempt.ts';
import { ConnectionLife } from '../connection-life.ts';
import type { EndpointAddress } from '../endpoint-address.ts';
import type { EndpointPool, PoolPlaces } from '../endpoint-pool.ts';

/** Idle connections kept; beyond, the oldest goes. */
const idleMax = 1_024;

export class ExclusivePool implements EndpointPool, ConnectionOwner, OpeningOwner {
  /** True when the pool may not be used for new requests. */
  retired = false;
  readonly #address: EndpointAddress;
  readonly #pool: PoolPlaces;
  readonly #idle: ClientConnection[] = [];
  readonly #opening = new Set<ConnectAttempt>();
  readonly #life: ConnectionLife;

  constructor(address: EndpointAddress, pool: PoolPlaces) {
    this.#address = address;
    this.#pool = pool;
    const { tools, options } = pool;
    this.#life = new ConnectionLife(address.host, tools.names, options.maxAgeMs, () => this.#leaveAddresses());
  }

  takeReady(taker: PoolCallbacks): ClientConnection | undefined {
    for (;;) {
      const connection = this.#pool.options.proxyProtocol === undefined ? this.#idle.pop() : this.#popOf(taker.client);
      if (connection === undefined) return undefined;
      if (connection.usable) return connection;
      connection.close();
      this.#pool.onGone();
    }
  }

  /** Returns the connection of that client that was used last, and no other's. */
  #popOf(client: ClientEnds | undefined): ClientConnection | undefined {
    const place = this.#idle.findLastIndex((connection) => connection.client === client);
    return place < 0 ? undefined : this.#idle.splice(place, 1)[0];
  }

  /** Gives a connection to one client, with which it ends. */
  #reserve(connection: ClientConnection, client: ClientEnds | undefined): void {
    connection.client = client;
    client?.onceClosed(() => {
      const place = this.#idle.lastIndexOf(connection);
      if (place >= 0) this.#close(this.#idle.splice(place, 1));
    });
  }

  get hasIdle(): boolean {
    return this.#idle.length > 0;
  }

  endOldest(): boolean {
    const oldest = this.#idle.shift();
    oldest?.close();
    return oldest !== undefined;
  }

  join(): boolean {
    return false;
  }

  open(taker: PoolCallbacks): void {
    const { options, tools } = this.#pool;
    this.#opening.add(new ConnectAttempt(taker, this.#address, this, options, tools));
  }

  cancel(taker: PoolCallbacks): void {
    for (const opening of this.#opening) if (opening.taker === taker) opening.abort();
  }

  retire(): void {
    this.retired = true;
    this.closeIdle();
  }

  closeIdle(): void {
    this.#close(this.#idle.splice(0));
  }

  #leaveAddresses(): void {
    const stale = this.#idle.filter(({ remoteAddress }) => !this.#life.isCurrent(remoteAddress));
    for (const connection of stale) this.#idle.splice(this.#idle.indexOf(connection), 1);
    this.#close(stale);
  }

  #close(connections: readonly ClientConnection[]): void {
    for (const connection of connections) {
      connection.close();
      this.#pool.onGone();
    }
  }

  onOpened(opening: ConnectAttempt, socket: ByteSocket): void {
    this.#opening.delete(opening);
    const { tools, options } = this.#pool;
    const connection = new ClientConnection(socket, this, {
      wheel: tools.wheel,
      responseHeaderMs: options.responseHeaderMs,
      lenience: options.lenience,
    });
    const { ageMs } = this.#life;
    connection.remoteAddress = opening.remoteAddress;
    if (options.proxyProtocol !== undefined) this.#reserve(connection, opening.taker.client);
    if (ageMs > 0) connection.endsMs = tools.wheel.nowMs + ageMs;
    this.#life.opened(socket);
    opening.taker.onConnection(connection);
  }

  onNotOpened(opening: ConnectAttempt): void {
    this.#opening.delete(opening);
    this.#pool.onGone();
  }

  onRelease(connection: ClientConnection, reusable: boolean): void {
    // Its client has gone: no other one may use it.
    const isLeft = connection.client !== undefined && connection.client.places === undefined;
    if (isLeft) connection.close();
    if (!reusable || isLeft) {
      this.#pool.onGone();
      return;
    }
    const { wheel } = this.#pool.tools;
    const { announcedIdleMs } = connection;
    const ageLeftMs =
      connection.endsMs === Number.POSITIVE_INFINITY ? connection.endsMs : connection.endsMs - wheel.nowMs;
    const leftMs = Math.min(ageLeftMs, announcedIdleMs);
    if (leftMs <= 0 || !this.#life.isCurrent(connection.remoteAddress)) {
      connection.close();
      this.#pool.onGone();
      return;
    }
    if (this.#pool.handOver(this, connection)) return;
    const { idleMs } = this.#pool.options;
    const stayMs = Math.min(idleMs || Number.POSITIVE_INFINITY, leftMs);
    if (stayMs < Number.POSITIVE_INFINITY) wheel.arm(connection, stayMs);
    else wheel.disarm(connection);
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
