// Stream session: one connection of a client from its route to its end: destination, endpoint, connection to it, relay.
// An endpoint that cannot be reached gives way to the next one before a byte is lost.
import type { ProxyErrorType } from '../../errors.ts';
import type { Installed } from '../exchange/exchange-context.ts';
import { InFlightPermit } from '../forward/in-flight-permit.ts';
import { type ClientEnds, proxiedTlsOf } from '../message/client-ends.ts';
import type { StreamCounters } from '../metrics/stream-counters.ts';
import type { LoggedExchange, LoggedRequest } from '../middleware/log-variables.ts';
import type { ByteSocket } from '../socket/byte-socket.ts';
import type { ProxiedPlaces, ProxiedTls } from '../socket/proxy-header.ts';
import { hashKey } from '../upstream/balance/hash-key.ts';
import { ConnectAttempt, type OpeningOwner } from '../upstream/connect-attempt.ts';
import type { Endpoint } from '../upstream/endpoint-group.ts';
import type { Upstream } from '../upstream/upstreams.ts';
import type { Wheel } from '../wheel.ts';
import { Relay, type RelayEnd, type RelayOwner } from './relay.ts';
import type { StreamPlan } from './stream-plan.ts';

/** Client of a session. */
export interface StreamClient {
  readonly wire: ByteSocket;
  readonly clientIp: string;
  /** In lower case; empty: none. */
  readonly serverName: string;
  /** Bytes that were read already, for the upstream. */
  readonly first: Buffer | undefined;
}

export interface SessionOwner {
  readonly wheel: Wheel;
  nowMs(): number;
  /** Called once, when both sides are gone. */
  onSessionEnd(session: StreamSession): void;
}

/** Endpoints that are tried for one connection. */
const attemptsMax = 5;

const noFields = { status: 0, header: (): undefined => undefined, keepLines: (): void => {} };

export class StreamSession implements OpeningOwner<StreamSession>, RelayOwner, LoggedExchange, ClientEnds {
  readonly plan: StreamPlan;
  readonly state: unknown[] = [];
  readonly group = undefined;
  readonly response = noFields;
  readonly trace = undefined;
  readonly aborted = false;
  readonly abortReason = '';
  readonly startedMs: number;
  destinationId = '';
  endpoint = '';
  attempts = 0;
  error: ProxyErrorType | '' = '';
  upstreamMs = -1;
  requestBytes = 0;
  responseBytes = 0;
  readonly #client: StreamClient;
  readonly #owner: SessionOwner;
  readonly #installed: Installed;
  readonly #permit = new InFlightPermit();
  #counters: StreamCounters | undefined;
  #upstream: Upstream | undefined;
  #endpoint: Endpoint | undefined;
  /** Names of endpoints that could not be reached. */
  #tried: string[] | undefined;
  #attempt: ConnectAttempt<StreamSession> | undefined;
  #relay: Relay | undefined;
  /** True while the session has the place of a connection at its destination. */
  #hasPlace = false;
  #isOver = false;

  constructor(
    client: StreamClient,
    plan: StreamPlan,
    installed: Installed,
    owner: SessionOwner,
    counters: StreamCounters | undefined,
  ) {
    this.#client = client;
    this.plan = plan;
    this.#installed = installed;
    this.#owner = owner;
    this.#counters = counters;
    this.startedMs = owner.nowMs();
  }

  // The session as access logs see it.

  get nowMs(): number {
    return this.#owner.nowMs();
  }

  get route(): { readonly id: string; readonly name: string } {
    return this.plan;
  }

  get snapshot(): Installed['snapshot'] {
    return this.#installed.snapshot;
  }

  get role(): Installed['role'] {
    return this.#installed.role;
  }

  get request(): LoggedRequest {
    const { clientIp, serverName, wire } = this.#client;
    const ofRequests = { id: '', method: '', path: '', authority: '', scheme: '', header: () => undefined };
    const security = wire.security ?? (serverName === '' ? undefined : passedThrough(serverName));
    return { ...ofRequests, host: serverName, clientIp, protocol: 'TCP', security };
  }

  // The client as upstreams are told of it.

  get client(): ClientEnds {
    return this;
  }

  get places(): ProxiedPlaces | undefined {
    return this.#client.wire.places;
  }

  onceClosed(act: () => void): void {
    this.#client.wire.once('close', act);
  }

  /** Nothing is known of the protocol inside TLS that was ended, and of TLS that passes through no more than its name. */
  get proxiedTls(): ProxiedTls | undefined {
    const { serverName, wire } = this.#client;
    if (wire.security !== undefined) return { ...proxiedTlsOf(wire.security), protocol: '' };
    return serverName === '' ? undefined : { serverName, protocol: '', version: '', commonName: undefined };
  }

  begin(): void {
    const { plan } = this;
    this.#client.wire.pause();
    this.#counters?.onBegin(plan.name);
    for (const [slot, log] of plan.logs.entries()) log.onRequest?.(this, slot);
    if (plan.closed !== undefined) this.#fail(plan.closed);
    else this.#enter();
  }

  /** Counts under other counters from now on. */
  recount(counters: StreamCounters | undefined): void {
    this.#counters = counters;
    counters?.alreadyBegun(this.plan.name, this.#endpoint === undefined ? '' : this.destinationId);
  }

  get connectMs(): number {
    return this.upstreamMs;
  }

  /** Closes at once, in any state. */
  destroy(): void {
    if (this.#relay === undefined) this.#fail('');
    else this.#relay.destroy();
  }

  onOpened(_opening: ConnectAttempt<StreamSession>, wire: ByteSocket): void {
    const { plan } = this;
    this.#attempt = undefined;
    this.#observe(200);
    this.#permit.conclude('success');
    this.upstreamMs = this.nowMs - this.startedMs;
    this.#tried = undefined;
    const { wheel } = this.#owner;
    this.#relay = new Relay(this.#client.wire, wire, this, wheel, plan.idleMs);
    this.#relay.begin(this.#client.first);
  }

  onNotOpened(): void {
    this.#attempt = undefined;
    this.#givePlaceBack();
  }

  onNoConnection(type: ProxyErrorType): void {
    this.#observe(type === 'timeout' ? 504 : 502);
    const upstream = this.#upstream;
    if (this.#endpoint !== undefined) {
      this.#tried ??= [];
      this.#tried.push(this.#endpoint.name);
    }
    this.#permit.leaveEndpoint();
    const untried = upstream?.group.endpoints.some(({ name, state }) => state.available && !this.#hasTried(name));
    if (upstream === undefined || untried !== true || this.attempts >= attemptsMax) {
      this.#permit.conclude('failure');
      this.#fail(type);
    } else {
      this.#counters?.onRetry(this.plan.name);
      this.#tryOnce(upstream);
    }
  }

  onCarried(fromClient: boolean, length: number): void {
    if (fromClient) this.requestBytes += length;
    else this.responseBytes += length;
    this.#counters?.onCarried(this.plan.name, fromClient, length);
  }

  onRelayEnd(reason: RelayEnd): void {
    this.error = reason;
    this.#end();
  }

  #enter(): void {
    const { upstreams } = this.#installed;
    const { choice } = this.plan;
    const { shares } = choice;
    const share = shares.length === 1 ? shares[0] : choice.byWeight(upstreams, Math.random);
    const upstream = share && upstreams.get(share.destinationId);
    if (upstream === undefined) {
      this.#fail(share === undefined ? choice.whyNone(upstreams) : 'no_destination');
      return;
    }
    this.destinationId = upstream.id;
    if (!this.#permit.enter(upstream.breaker)) {
      this.#fail('circuit_open');
      return;
    }
    this.#upstream = upstream;
    this.#tryOnce(upstream);
  }

  #tryOnce(upstream: Upstream): void {
    const { group, pool } = upstream;
    if (!upstream.available) {
      this.#fail(upstream.isEmpty ? 'destination_unavailable' : 'no_endpoint');
      return;
    }
    const endpoint = group.pick(this.#keyFor(upstream), this.#tried);
    if (endpoint === undefined) {
      this.#fail('no_endpoint');
      return;
    }
    if (!pool.takePlace()) {
      this.#fail('circuit_open');
      return;
    }
    this.#hasPlace = true;
    if (this.#endpoint === undefined) this.#counters?.onDestination(upstream.id);
    this.#endpoint = endpoint;
    this.endpoint = endpoint.label;
    this.attempts++;
    this.#permit.enterEndpoint(endpoint);
    const { options, tools } = pool;
    const opening = { ...options, security: options.security?.offering(undefined) };
    this.#attempt = new ConnectAttempt<StreamSession>(this, endpoint.address, this, opening, tools);
  }

  /** Policies about requests have no value here: the address of the client is the key. */
  #keyFor({ id, balancing, group }: Upstream): number {
    if (!group.balancer.keyed) return 0;
    const { clientIp } = this.#client;
    return hashKey(balancing.policies, id, { clientIp, header: () => undefined, session: () => '' });
  }

  #hasTried(name: string): boolean {
    return this.#tried?.includes(name) === true;
  }

  #observe(status: number): void {
    if (this.#endpoint !== undefined) this.#upstream?.group.outlier.observe(this.#endpoint.state, status);
  }

  /** Ends a session without a relay. */
  #fail(error: ProxyErrorType | ''): void {
    if (this.#isOver) return;
    this.error = error;
    this.#attempt?.abort();
    this.#client.wire.destroy();
    this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#permit.leave();
    this.#givePlaceBack();
    this.#counters?.onEnd(this, this.#endpoint === undefined ? '' : this.destinationId);
    for (const [slot, log] of this.plan.logs.entries()) log.onFinish?.(this, slot);
    this.#owner.onSessionEnd(this);
  }

  #givePlaceBack(): void {
    if (!this.#hasPlace) return;
    this.#hasPlace = false;
    this.#upstream?.pool.onGone();
  }
}

const passedThrough = (serverName: string): NonNullable<LoggedRequest['security']> => ({
  version: '',
  serverName,
  protocol: '',
  resumed: false,
  client: undefined,
  covers: () => true,
});
