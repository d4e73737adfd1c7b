// Connections of the API: their limit, and the choice of the one that makes room for a new one. A client that never finishes
// its request costs others nothing: at the limit its connection is closed first.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../telemetry/logger.ts';
import type { Clock } from '../util/clock.ts';

interface Connection {
  readonly socket: Socket;
  /** Request that is being read or answered. */
  request: IncomingMessage | undefined;
  /** True after its first answer. */
  used: boolean;
}

interface ConnectionsOptions {
  readonly max: number;
  /** Connections that are kept even where descriptors are scarce. */
  readonly assured: number;
  /** Returns true for a connection that took one of the last descriptors. */
  readonly isScarce: (socket: Socket) => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

const warnEveryMs = 60_000;

export class Connections {
  /** Connections by address and port of the client, in the order of their waits for a request, longest first. */
  readonly #open = new Map<string, Connection>();
  readonly #options: ConnectionsOptions;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  watch(server: Server): void {
    // With TLS this is the connection below it, whose handshake is to come.
    server.on('connection', (socket) => this.#add(socket));
    server.on('request', (request, response) => this.#begin(request, response));
  }

  #add(socket: Socket): void {
    const key = clientOf(socket);
    if (key === undefined || (this.#isFull(socket) && !this.#makeRoom())) {
      socket.destroy();
      return;
    }
    const connection: Connection = { socket, request: undefined, used: false };
    this.#open.set(key, connection);
    socket.once('close', () => {
      if (this.#open.get(key) === connection) this.#open.delete(key);
    });
  }

  #isFull(socket: Socket): boolean {
    const { max, assured, isScarce } = this.#options;
    return this.#open.size >= max || (this.#open.size >= assured && isScarce(socket));
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    const key = clientOf(request.socket);
    const connection = key === undefined ? undefined : this.#open.get(key);
    if (key === undefined || connection === undefined) return;
    connection.request = request;
    response.once('close', () => {
      // A request that was sent ahead has begun already.
      if (connection.request === request) connection.request = undefined;
      connection.used = true;
      if (this.#open.delete(key)) this.#open.set(key, connection);
    });
  }

  /** Closes the oldest connection whose request has not come in, or else the longest idle one. */
  #makeRoom(): boolean {
    const { clock, logger } = this.#options;
    if (clock.monotonicMs() >= this.#warnedAt + warnEveryMs) {
      this.#warnedAt = clock.monotonicMs();
      logger.warn(
        { connections: this.#open.size },
        'the API has as many connections as it keeps: slow and idle ones are closed',
      );
    }
    const found = this.#slowest() ?? this.#idlest();
    if (found === undefined) return false;
    const [key, { socket }] = found;
    this.#open.delete(key);
    socket.destroy();
    return true;
  }

  #slowest(): [string, Connection] | undefined {
    for (const entry of this.#open) {
      const { request, used } = entry[1];
      if (request === undefined ? !used : !request.complete) return entry;
    }
    return undefined;
  }

  #idlest(): [string, Connection] | undefined {
    for (const entry of this.#open) if (entry[1].request === undefined) return entry;
    return undefined;
  }
}

/** Address and port of the client; undefined once the client has closed. */
const clientOf = ({ remoteAddress, remotePort }: Socket): string | undefined =>
  remoteAddress === undefined ? undefined : `${remoteAddress} ${remotePort}`;
