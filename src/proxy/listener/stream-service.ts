// Stream service: a listener of protocol tcp. Its connections are routed once, by the server name of TLS where there is
// one and by the address of the client, and carry bytes from then on (layer4.md §1).
import { listenerDefaults } from '../../model/defaults.ts';
import type { Listener } from '../../model/listener.ts';
import { passesThrough } from '../../model/listener-place.ts';
import { plainIp } from '../message/client-address.ts';
import { collectedOf, sameBuckets } from '../metrics/collected.ts';
import { countersOf, type ListenerCounters } from '../metrics/listener-counters.ts';
import { StreamCounters } from '../metrics/stream-counters.ts';
import { durationMs } from '../parsed-duration.ts';
import type { ByteSocket } from '../socket/byte-socket.ts';
import type { TcpHandle } from '../socket/stream-handle.ts';
import { TcpSocket } from '../socket/tcp-socket.ts';
import { type SessionOwner, type StreamClient, StreamSession } from '../stream/stream-session.ts';
import { canonicalHost } from '../target/host.ts';
import type { ClientHello } from '../tls/client-hello.ts';
import { Handshake, type HandshakeOwner } from '../tls/handshake.ts';
import { HandshakeFailures } from '../tls/handshake-failures.ts';
import { unrecognizedName } from '../tls/terminator.ts';
import type { Wheel } from '../wheel.ts';
import { Admission } from './connection-admission.ts';
import { type GateOwner, HelloGate } from './hello-gate.ts';
import type { BegunHandshake, ListenerService, PortOwner } from './listener-service.ts';
import { type Admitted, eitherOf, ProxyAdmission } from './proxy-admission.ts';
import { ProxyGate, type ProxyGateOwner } from './proxy-gate.ts';
import type { ListenerTools } from './proxy-listener.ts';

export class StreamService implements ListenerService, ProxyGateOwner, GateOwner, HandshakeOwner, SessionOwner {
  readonly wheel: Wheel;
  readonly #place: string;
  readonly #tools: ListenerTools;
  readonly #admission: Admission;
  readonly #failures: HandshakeFailures;
  readonly #sessions = new Set<StreamSession>();
  readonly #gates = new Set<ProxyGate | HelloGate | Handshake>();
  #proxies: ProxyAdmission;
  /** Service of the port for server names that no route of this one matches; undefined: there is none. */
  readonly #fallback: () => ListenerService | undefined;
  #owner: PortOwner;
  #counters: ListenerCounters | undefined;
  #streams: StreamCounters | undefined;
  #draining = false;
  #onEmpty = (): void => {};

  constructor(
    owner: PortOwner,
    place: string,
    tools: ListenerTools,
    fallback: () => ListenerService | undefined = () => undefined,
  ) {
    const { wheel, telemetry, clients } = tools;
    const { listener, memory } = owner;
    this.wheel = wheel;
    this.#owner = owner;
    this.#place = place;
    this.#tools = tools;
    this.#fallback = fallback;
    this.#admission = new Admission(listener, memory, clients, wheel, telemetry.logger);
    this.#failures = new HandshakeFailures(listener.name, wheel, telemetry.logger);
    this.#proxies = new ProxyAdmission(listener);
    this.#count(listener);
  }

  get id(): string {
    return this.#owner.listener.id;
  }

  get handshakeFailures(): ReadonlyMap<string, number> {
    return this.#failures.counts;
  }

  nowMs(): number {
    return this.#tools.clock.monotonicMs();
  }

  forgetCounters(): void {
    this.#counters?.end();
    this.#streams?.end();
    this.#counters = undefined;
    this.#streams = undefined;
    for (const session of this.#sessions) session.recount(undefined);
  }

  configure(owner: PortOwner): void {
    this.#recount(owner.listener);
    this.#admission.follow(owner.listener, owner.memory);
    this.#failures.listener = owner.listener.name;
    this.#owner = owner;
    this.#proxies = new ProxyAdmission(owner.listener);
  }

  accept(handle: TcpHandle): void {
    if (!this.#enter(handle)) return;
    const own = this.#proxies.of(handle);
    const fallback = this.#fallback();
    const admitted = fallback === undefined ? own : eitherOf(own, fallback.admissionOf(handle));
    if (admitted === 'direct') this.#open(handle, undefined);
    else if (admitted === 'refused') this.#refuseBeginning(handle, 'stranger');
    else {
      const { heads } = this.#tools;
      this.#gates.add(new ProxyGate(handle, admitted === 'required', this, this.wheel, heads, this.#helloMs));
    }
  }

  admissionOf(handle: TcpHandle): Admitted {
    return this.#proxies.of(handle);
  }

  onProxied(gate: ProxyGate, begun: BegunHandshake): void {
    this.#gates.delete(gate);
    this.#counters?.onProxyHeader(begun.handle.hasProxyHeader === true ? 'read' : 'absent');
    this.#open(begun.handle, begun);
  }

  onNotProxied(gate: ProxyGate, reason: string | undefined): void {
    this.#gates.delete(gate);
    if (reason !== undefined) {
      this.#failures.count(reason);
      this.#counters?.onProxyHeader(reason === 'proxy_header' ? 'malformed' : 'incomplete');
    }
    this.#left();
  }

  /** `begun`: what was read of the connection before. */
  #open(handle: TcpHandle, begun: BegunHandshake | undefined): void {
    const { listener, terminator } = this.#owner;
    if (passesThrough(listener)) {
      const { heads } = this.#tools;
      this.#gates.add(new HelloGate(handle, this, this.wheel, heads, this.#helloMs, begun));
    } else if (terminator !== undefined)
      this.#gates.add(new Handshake(handle, terminator, this, this.wheel, this.#helloMs, begun));
    else {
      const wire = new TcpSocket(handle, { halfOpen: true, attached: begun !== undefined });
      this.#route(wire, '', begun?.bytes.length === 0 ? undefined : begun?.bytes);
    }
  }

  #refuseBeginning(handle: TcpHandle, result: 'malformed' | 'stranger'): void {
    this.#failures.count('proxy_header');
    this.#counters?.onProxyHeader(result);
    handle.close();
    this.#left();
  }

  takeOver({ handle, bytes, spentMs }: BegunHandshake): void {
    const { terminator } = this.#owner;
    if (terminator === undefined) {
      handle.close();
      return;
    }
    if (!this.#enter(handle)) return;
    const refusal = this.#proxies.refusalOf(handle);
    if (refusal !== undefined) this.#refuseBeginning(handle, refusal);
    else this.#gates.add(new Handshake(handle, terminator, this, this.wheel, this.#helloMs, { bytes, spentMs }));
  }

  async drain(withinMs: number): Promise<void> {
    this.#draining = true;
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    for (const gate of this.#gates) gate.destroy();
    this.#lookEmpty();
    const cancel = this.#tools.clock.after(withinMs, () => {
      for (const session of this.#sessions) session.destroy();
      for (const gate of this.#gates) gate.destroy();
    });
    await empty;
    cancel();
  }

  onHello(gate: HelloGate, wire: TcpSocket, hello: ClientHello, bytes: Buffer, spentMs: number): void {
    this.#gates.delete(gate);
    const serverName = canonicalHost(hello.serverName);
    const fallback = this.#fallback();
    const handle = wire.tcp;
    // Also without another listener: the one that the connection might have been of may have closed meanwhile.
    const refusal = handle && this.#proxies.refusalOf(handle);
    if (refusal === undefined && this.#begin(wire, serverName, bytes)) return;
    if (handle !== undefined) {
      if (refusal !== undefined && (fallback === undefined || this.#routes(wire, serverName))) {
        this.#refuseBeginning(handle, refusal);
        return;
      }
      if (fallback !== undefined) {
        this.#left();
        fallback.takeOver({ handle, bytes, spentMs });
        return;
      }
    }
    this.#refuse();
    wire.write(unrecognizedName);
    wire.destroySoon();
    this.#left();
  }

  onNoHello(gate: HelloGate, reason: string | undefined): void {
    this.#gates.delete(gate);
    this.#fail(reason);
  }

  /** Returns whether some route is for the name: the alert is sent before a handshake, or it cannot be sent. */
  admitsName(handshake: Handshake, serverName: string): boolean {
    if (this.#routes(handshake, canonicalHost(serverName))) return true;
    this.#streams?.onUnrouted();
    return false;
  }

  onSecured(handshake: Handshake, wire: ByteSocket): void {
    this.#gates.delete(handshake);
    this.#route(wire, wire.security?.serverName ?? '', undefined);
  }

  onNotSecured(handshake: Handshake, reason: string | undefined): void {
    this.#gates.delete(handshake);
    this.#fail(reason);
  }

  onSessionEnd(session: StreamSession): void {
    this.#sessions.delete(session);
    this.#left();
  }

  get #helloMs(): number {
    return durationMs(this.#owner.listener.timeouts?.clientHeader, listenerDefaults.timeouts.clientHeader);
  }

  #enter(handle: TcpHandle): boolean {
    if (this.#draining || !this.#admission.enter(handle.fd)) {
      handle.close();
      return false;
    }
    this.#counters?.onConnection();
    return true;
  }

  #route(wire: ByteSocket, serverName: string, first: Buffer | undefined): void {
    if (this.#begin(wire, serverName, first)) return;
    this.#streams?.onUnrouted();
    wire.destroy();
    this.#left();
  }

  /** Begins the session of a connection; false when no route matches. */
  #begin(wire: ByteSocket, serverName: string, first: Buffer | undefined): boolean {
    const clientIp = clientIpOf(wire);
    const found = this.#find(serverName, clientIp);
    if (found === undefined) return false;
    const client: StreamClient = { wire, clientIp, serverName, first };
    const session = new StreamSession(client, found.plan, found.installed, this, this.#streams);
    this.#sessions.add(session);
    session.begin();
    return true;
  }

  /** Returns whether some route is for the name and the client. */
  #routes(client: Addressed, serverName: string): boolean {
    return this.#find(serverName, clientIpOf(client)) !== undefined;
  }

  #find(serverName: string, clientIp: string) {
    return this.#tools.streamOf({ place: this.#place, listener: this.id, serverName, clientIp });
  }

  #refuse(): void {
    this.#streams?.onUnrouted();
    this.#failures.count('unrecognized_name');
    this.#counters?.onHandshakeFailure();
  }

  #fail(reason: string | undefined): void {
    if (reason !== undefined) {
      this.#failures.count(reason);
      this.#counters?.onHandshakeFailure();
    }
    this.#left();
  }

  #left(): void {
    this.#admission.leave();
    this.#counters?.onConnectionEnd();
    this.#lookEmpty();
  }

  #lookEmpty(): void {
    if (this.#draining && this.#sessions.size + this.#gates.size === 0) this.#onEmpty();
  }

  /** Keeps the metrics, unless the port has another listener, has no metrics any more, or has other buckets. */
  #recount(listener: Listener): void {
    const before = this.#counters?.collected;
    const after = collectedOf(listener);
    const { id, name } = this.#owner.listener;
    const stays = before !== undefined && after !== undefined && listener.id === id && listener.name === name;
    if (stays && sameBuckets(before, after) && JSON.stringify(before) === JSON.stringify(after)) return;
    this.#counters?.end();
    this.#streams?.end();
    if (before !== undefined) this.#tools.metrics.forget(id);
    this.#count(listener);
    this.#counters?.alreadyOpen(this.#sessions.size + this.#gates.size);
    for (const session of this.#sessions) session.recount(this.#streams);
  }

  #count(listener: Listener): void {
    const collected = collectedOf(listener);
    this.#counters = countersOf(listener, collected, this.#tools.metrics);
    this.#streams = collected && new StreamCounters(listener.id, collected, this.#tools.metrics);
  }
}

interface Addressed {
  readonly remoteAddress?: string | undefined;
}

/** Returns the address of the client in the form that routes compare. */
const clientIpOf = ({ remoteAddress }: Addressed): string => plainIp(remoteAddress ?? '');
