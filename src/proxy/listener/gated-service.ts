// Gated service: the way of a connection from its port to the service of a listener, of any protocol: the limits on
// connections, the PROXY head, the handshake, and the metrics of all three.
import { listenerDefaults } from '../../model/defaults.ts';
import type { Listener } from '../../model/listener.ts';
import { collectedOf } from '../metrics/collected.ts';
import type { Collected } from '../metrics/families.ts';
import { countersOf, type ListenerCounters } from '../metrics/listener-counters.ts';
import { durationMs } from '../parsed-duration.ts';
import type { ByteSocket } from '../socket/byte-socket.ts';
import type { TcpHandle } from '../socket/stream-handle.ts';
import { Handshake, type HandshakeOwner } from '../tls/handshake.ts';
import { HandshakeFailures } from '../tls/handshake-failures.ts';
import type { TlsTerminator } from '../tls/terminator.ts';
import { Admission } from './connection-admission.ts';
import type { Gate } from './gate.ts';
import type { BegunHandshake, ListenerService, PortOwner } from './listener-service.ts';
import type { ListenerTools } from './listener-tools.ts';
import { type Admitted, ProxyAdmission } from './proxy-admission.ts';
import { ProxyGate, type ProxyGateOwner } from './proxy-gate.ts';

export abstract class GatedService implements ListenerService, ProxyGateOwner, HandshakeOwner {
  /** `address:port`. */
  protected readonly place: string;
  protected readonly tools: ListenerTools;
  protected readonly failures: HandshakeFailures;
  /** Connections that are not served yet. */
  protected readonly gates = new Set<Gate | Handshake>();
  protected owner: PortOwner;
  protected proxies: ProxyAdmission;
  /** Set by `count`, which a subclass calls once it is constructed. */
  protected counters: ListenerCounters | undefined;
  /** Milliseconds that a client has for its first head; 0 = no limit. */
  protected clientHeaderMs: number;
  protected draining = false;
  readonly #admission: Admission;
  /** Called when the last connection has ended. */
  #onEmpty = (): void => {};

  constructor(owner: PortOwner, place: string, tools: ListenerTools) {
    const { listener, memory } = owner;
    const { wheel, telemetry, clients } = tools;
    this.owner = owner;
    this.place = place;
    this.tools = tools;
    this.failures = new HandshakeFailures(listener.name, wheel, telemetry.logger);
    this.proxies = new ProxyAdmission(listener);
    this.clientHeaderMs = clientHeaderMs(listener);
    this.#admission = new Admission(listener, memory, clients, wheel, telemetry.logger);
  }

  /** Number of connections that have passed the gates. */
  protected abstract get served(): number;

  /**
   * Serves a connection that needs no handshake, or reads what tells its handshake. `begun`: what was read of it before.
   */
  protected abstract begin(handle: TcpHandle, begun: BegunHandshake | undefined): void;

  /** Returns whether metrics of the listener cannot go on with what is collected now. */
  protected abstract startsOver(before: Collected, after: Collected): boolean;

  abstract onSecured(handshake: Handshake, wire: ByteSocket, spentMs: number): void;

  abstract drain(withinMs: number): Promise<void>;

  get id(): string {
    return this.owner.listener.id;
  }

  get handshakeFailures(): ReadonlyMap<string, number> {
    return this.failures.counts;
  }

  forgetCounters(): void {
    this.counters?.end();
    this.counters = undefined;
  }

  configure(owner: PortOwner): void {
    const { listener, memory } = owner;
    this.#recount(listener);
    this.#admission.follow(listener, memory);
    this.failures.listener = listener.name;
    this.proxies = new ProxyAdmission(listener);
    this.clientHeaderMs = clientHeaderMs(listener);
    this.owner = owner;
  }

  accept(handle: TcpHandle): void {
    if (!this.enter(handle)) return;
    const admitted = this.beginningOf(handle);
    if (admitted === 'direct') this.#open(handle, undefined);
    else if (admitted === 'refused') this.refuse(handle, 'stranger');
    else {
      const { wheel, heads } = this.tools;
      this.gates.add(new ProxyGate(handle, admitted === 'required', this, wheel, heads, this.clientHeaderMs));
    }
  }

  admissionOf(handle: TcpHandle): Admitted {
    return this.proxies.of(handle);
  }

  onProxied(gate: ProxyGate, begun: BegunHandshake): void {
    this.gates.delete(gate);
    this.counters?.onProxyHeader(begun.handle.hasProxyHeader === true ? 'read' : 'absent');
    this.#open(begun.handle, begun);
  }

  onNotProxied(gate: ProxyGate, reason: string | undefined): void {
    this.gates.delete(gate);
    if (reason !== undefined) {
      this.failures.count(reason);
      this.counters?.onProxyHeader(reason === 'proxy_header' ? 'malformed' : 'incomplete');
    }
    this.left();
  }

  takeOver(begun: BegunHandshake): void {
    const { handle } = begun;
    const { terminator } = this.owner;
    if (terminator === undefined) {
      handle.close();
      return;
    }
    if (!this.enter(handle)) return;
    const refusal = this.proxies.refusalOf(handle);
    if (refusal !== undefined) this.refuse(handle, refusal);
    else this.#secure(handle, terminator, begun);
  }

  onNotSecured(handshake: Handshake, reason: string | undefined): void {
    this.gates.delete(handshake);
    this.fail(reason);
  }

  /** Returns how a connection of the port begins. */
  protected beginningOf(handle: TcpHandle): Admitted {
    return this.proxies.of(handle);
  }

  /** Counts a connection; one beyond a limit is closed, and false returned. */
  protected enter(handle: TcpHandle): boolean {
    if (!this.#admission.enter(handle.fd)) {
      handle.close();
      return false;
    }
    this.counters?.onConnection();
    return true;
  }

  /** Closes a connection whose beginning is not that of the listener. */
  protected refuse(handle: TcpHandle, result: 'malformed' | 'stranger'): void {
    this.failures.count('proxy_header');
    this.counters?.onProxyHeader(result);
    handle.close();
    this.left();
  }

  /** Counts a connection that is gone before it was served. No reason: it ended before its first byte. */
  protected fail(reason: string | undefined): void {
    if (reason !== undefined) {
      this.failures.count(reason);
      this.counters?.onHandshakeFailure();
    }
    this.left();
  }

  /** Counts the end of a connection. */
  protected left(): void {
    this.#admission.leave();
    this.counters?.onConnectionEnd();
    this.#lookEmpty();
  }

  /** Begins to drain; resolves when no connection is left. */
  protected untilEmpty(): Promise<void> {
    this.draining = true;
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    this.#lookEmpty();
    return empty;
  }

  /** Makes the counters of a listener. */
  protected count(listener: Listener): void {
    this.counters = countersOf(listener, collectedOf(listener), this.tools.metrics);
  }

  #open(handle: TcpHandle, begun: BegunHandshake | undefined): void {
    const { terminator } = this.owner;
    if (terminator === undefined) this.begin(handle, begun);
    else this.#secure(handle, terminator, begun);
  }

  #secure(handle: TcpHandle, terminator: TlsTerminator, begun: BegunHandshake | undefined): void {
    const { wheel, heads } = this.tools;
    this.gates.add(new Handshake(handle, terminator, this, wheel, heads, this.clientHeaderMs, begun));
  }

  #lookEmpty(): void {
    if (this.served + this.gates.size === 0) this.#onEmpty();
  }

  /** Keeps the metrics, unless the port has another listener, has no metrics any more, or has to start over. */
  #recount(listener: Listener): void {
    const before = this.counters?.collected;
    const after = collectedOf(listener);
    const { id, name } = this.owner.listener;
    const stays = before !== undefined && after !== undefined && listener.id === id && listener.name === name;
    if (stays && !this.startsOver(before, after)) {
      if (JSON.stringify(before) !== JSON.stringify(after)) this.count(listener);
      return;
    }
    if (before !== undefined) {
      this.forgetCounters();
      this.tools.metrics.forget(id);
    }
    this.count(listener);
    this.counters?.alreadyOpen(this.served + this.gates.size);
  }
}

const clientHeaderMs = ({ timeouts }: Listener): number =>
  durationMs(timeouts?.clientHeader, listenerDefaults.timeouts.clientHeader);
