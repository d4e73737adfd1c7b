// Attempt to connect to an endpoint: both families of a name are tried (RFC 8305), within the time limit of the
// destination.

import type { LookupAddress } from 'node:dns';
import { isIP, type Socket } from 'node:net';
import type { ProxyErrorType } from '../../errors.ts';
import { headFor } from '../message/client-ends.ts';
import type { PoolCallbacks } from '../message/upstream-stream.ts';
import type { ByteSocket } from '../socket/byte-socket.ts';
import { sockets } from '../socket/sockets.ts';
import { type TcpHandle, writeRequest } from '../socket/stream-handle.ts';
import { TcpSocket } from '../socket/tcp-socket.ts';
import type { UpstreamSecurity } from '../tls/upstream-security.ts';
import { Timed, type Wheel } from '../wheel.ts';
import { AddressRace, type RaceOwner } from './address-race.ts';
import type { EndpointAddress } from './endpoint-address.ts';
import type { NameLookup } from './name-lookup.ts';
import { Securing } from './securing.ts';

export interface OpeningOptions {
  /** Milliseconds; 0 = no limit. */
  readonly connectMs: number;
  /** Milliseconds until the other family is tried as well; 0 = at once. */
  readonly dualStackFallbackMs: number;
  /** Version of the PROXY head that connections begin with; undefined: none. */
  readonly proxyProtocol?: 'v1' | 'v2' | undefined;
  /** Undefined: bytes travel as they are. */
  readonly security: UpstreamSecurity | undefined;
  /** Milliseconds; 0 = no limit. */
  readonly tlsHandshakeMs: number;
}

export interface OpeningTools {
  readonly wheel: Wheel;
  readonly names: NameLookup;
}

/** Owner of the attempt, called once with its result. */
export interface OpeningOwner<Taker extends Refusable = PoolCallbacks> {
  onOpened(opening: ConnectAttempt<Taker>, socket: ByteSocket): void;
  onNotOpened(opening: ConnectAttempt<Taker>): void;
}

/** Caller that learns why there is no connection, after the owner. */
export type Refusable = Pick<PoolCallbacks, 'client' | 'onNoConnection'>;

export class ConnectAttempt<Taker extends Refusable = PoolCallbacks> extends Timed implements RaceOwner {
  readonly taker: Taker;
  /** The address of the name that has answered; empty before. */
  remoteAddress = '';
  readonly #owner: OpeningOwner<Taker>;
  readonly #wheel: Wheel;
  readonly #options: OpeningOptions;
  readonly #address: EndpointAddress;
  /** While the addresses of the name are known, and none of them has answered. */
  #race: AddressRace | undefined;
  /** While the connection, which is there, is being secured. */
  #securing: Securing | undefined;
  #settled = false;

  constructor(
    taker: Taker,
    address: EndpointAddress,
    owner: OpeningOwner<Taker>,
    options: OpeningOptions,
    tools: OpeningTools,
  ) {
    super();
    this.taker = taker;
    this.#owner = owner;
    this.#wheel = tools.wheel;
    this.#options = options;
    this.#address = address;
    if (options.connectMs > 0) tools.wheel.arm(this, options.connectMs);
    const family = isIP(address.host);
    if (family > 0) this.#connect([{ address: address.host, family }]);
    else {
      tools.names.lookup(address.host, { all: true }, (error, found) => {
        if (error !== null || typeof found === 'string') this.onUnreachable(error ?? new Error('no addresses'));
        else if (!this.#settled) this.#connect(found);
      });
    }
  }

  /** Ends the attempt; no caller waits for it any more. */
  abort(): void {
    if (this.#settled) return;
    this.#settle();
    this.#giveUp();
  }

  override onDeadline(): void {
    if (this.#securing === undefined) this.#fail('timeout', 'not connected in time');
    else this.#fail('tls_handshake_failure', 'upstream TLS handshake failed: not done in time');
  }

  onUnreachable(error: NodeJS.ErrnoException): void {
    this.#fail(typeOf(error), error.code ?? error.message);
  }

  onConnected(socket: Socket, address: string): void {
    this.remoteAddress = address;
    this.#race = undefined;
    const { proxyProtocol, security, tlsHandshakeMs } = this.#options;
    const handle = sockets.handleOf(socket);
    if (proxyProtocol !== undefined) writeFirst(handle, headFor(proxyProtocol, this.taker.client));
    if (security === undefined) this.#succeed(new TcpSocket(handle, { halfOpen: false, attached: true }));
    else {
      if (tlsHandshakeMs > 0) this.#wheel.arm(this, tlsHandshakeMs);
      else this.#wheel.disarm(this);
      const { host, port } = this.#address;
      this.#securing = new Securing(handle, security, `${host}:${port}`, (outcome) => {
        if (typeof outcome !== 'string') this.#succeed(outcome);
        else this.#fail('tls_handshake_failure', `upstream TLS handshake failed: ${outcome}`);
      });
      this.#securing.begin();
    }
  }

  #connect(addresses: readonly LookupAddress[]): void {
    const options = { port: this.#address.port, delayMs: this.#options.dualStackFallbackMs, wheel: this.#wheel };
    this.#race = new AddressRace(addresses, this, options);
    this.#race.begin();
  }

  #succeed(wire: ByteSocket): void {
    if (this.#settled) return;
    this.#settle();
    this.#owner.onOpened(this, wire);
  }

  #fail(type: ProxyErrorType, message: string): void {
    if (this.#settled) return;
    this.#settle();
    this.#giveUp();
    this.taker.onNoConnection(type, message);
  }

  #giveUp(): void {
    this.#securing?.abort();
    this.#race?.abort();
    this.#race = undefined;
    this.#owner.onNotOpened(this);
  }

  #settle(): void {
    this.#settled = true;
    this.#wheel.remove(this);
  }
}

/** Writes the first bytes of a connection, which its empty buffer takes at once. */
function writeFirst(handle: TcpHandle, bytes: Buffer): void {
  const request = writeRequest();
  request.data = bytes;
  request.oncomplete = () => {};
  handle.writeBuffer(request, bytes);
}

const dnsCodes = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NONAME', 'ENODATA']);

/** contract.md §9: what is not a name or a time is a refusal. */
function typeOf({ code = '' }: NodeJS.ErrnoException): ProxyErrorType {
  if (dnsCodes.has(code)) return 'dns_failure';
  return code === 'ETIMEDOUT' ? 'timeout' : 'connection_refused';
}
