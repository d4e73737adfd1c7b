// Stream service: a listener of protocol tcp. Its connections are routed once, by the server name of TLS where there is
// one and by the address of the client, and carry bytes from then on (layer4.md §1).
import type { Listener } from '../../model/listener.ts';
import { passesThrough } from '../../model/listener-place.ts';
import { plainIp } from '../message/client-address.ts';
import type { Collected } from '../metrics/families.ts';
import { StreamCounters } from '../metrics/stream-counters.ts';
import type { ByteSocket } from '../socket/byte-socket.ts';
import type { TcpHandle } from '../socket/stream-handle.ts';
import { TcpSocket } from '../socket/tcp-socket.ts';
import { type SessionOwner, type StreamClient, StreamSession } from '../stream/stream-session.ts';
import { canonicalHost } from '../target/host.ts';
import type { ClientHello } from '../tls/client-hello.ts';
import type { Handshake } from '../tls/handshake.ts';
import { unrecognizedName } from '../tls/terminator.ts';
import type { Wheel } from '../wheel.ts';
import { GatedService } from './gated-service.ts';
import { type GateOwner, HelloGate } from './hello-gate.ts';
import type { BegunHandshake, ListenerService, PortOwner } from './listener-service.ts';
import type { ListenerTools } from './listener-tools.ts';
import { type Admitted, eitherOf } from './proxy-admission.ts';

export class StreamService extends GatedService implements GateOwner, SessionOwner {
  readonly wheel: Wheel;
  readonly #sessions = new Set<StreamSession>();
  /** Service of the port for server names that no route of this one matches; undefined: there is none. */
  readonly #fallback: () => ListenerService | undefined;
  #streams: StreamCounters | undefined;

  constructor(
    owner: PortOwner,
    place: string,
    tools: ListenerTools,
    fallback: () => ListenerService | undefined = () => undefined,
  ) {
    super(owner, place, tools);
    this.wheel = tools.wheel;
    this.#fallback = fallback;
    this.count(owner.listener);
  }

  nowMs(): number {
    return this.tools.clock.monotonicMs();
  }

  override forgetCounters(): void {
    super.forgetCounters();
    this.#streams?.end();
    this.#streams = undefined;
    for (const session of this.#sessions) session.recount(undefined);
  }

  override async drain(withinMs: number): Promise<void> {
    const empty = this.untilEmpty();
    for (const gate of this.gates) gate.destroy();
    const cancel = this.tools.clock.after(withinMs, () => {
      for (const session of this.#sessions) session.destroy();
      for (const gate of this.gates) gate.destroy();
    });
    await empty;
    cancel();
  }

  onHello(gate: HelloGate, wire: TcpSocket, hello: ClientHello, bytes: Buffer, spentMs: number): void {
    this.gates.delete(gate);
    const serverName = canonicalHost(hello.serverName);
    const fallback = this.#fallback();
    const handle = wire.tcp;
    // Also without another listener: the one that the connection might have been of may have closed meanwhile.
    const refusal = handle && this.proxies.refusalOf(handle);
    if (refusal === undefined && this.#begin(wire, serverName, bytes)) return;
    if (handle !== undefined) {
      if (refusal !== undefined && (fallback === undefined || this.#routes(wire, serverName))) {
        this.refuse(handle, refusal);
        return;
      }
      if (fallback !== undefined) {
        this.left();
        fallback.takeOver({ handle, bytes, spentMs });
        return;
      }
    }
    this.#countUnrecognized();
    wire.write(unrecognizedName);
    wire.destroySoon();
    this.left();
  }

  onNoHello(gate: HelloGate, reason: string | undefined): void {
    this.gates.delete(gate);
    this.fail(reason);
  }

  /** Returns whether some route is for the name: the alert is sent before a handshake, or it cannot be sent. */
  admitsName(handshake: Handshake, serverName: string): boolean {
    if (this.#routes(handshake, canonicalHost(serverName))) return true;
    this.#streams?.onUnrouted();
    return false;
  }

  override onSecured(handshake: Handshake, wire: ByteSocket): void {
    this.gates.delete(handshake);
    this.#route(wire, wire.security?.serverName ?? '', undefined);
  }

  onSessionEnd(session: StreamSession): void {
    this.#sessions.delete(session);
    this.left();
  }

  protected override get served(): number {
    return this.#sessions.size;
  }

  /** Reads the hello of a listener that passes TLS through, and routes any other connection. */
  protected override begin(handle: TcpHandle, begun: BegunHandshake | undefined): void {
    if (passesThrough(this.owner.listener)) {
      const { heads } = this.tools;
      this.gates.add(new HelloGate(handle, this, this.wheel, heads, this.clientHeaderMs, begun));
      return;
    }
    const wire = new TcpSocket(handle, { halfOpen: true, attached: begun !== undefined });
    this.#route(wire, '', begun?.bytes.length === 0 ? undefined : begun?.bytes);
  }

  /** Sessions count under one set of counters from their begin to their end. */
  protected override startsOver(before: Collected, after: Collected): boolean {
    return JSON.stringify(before) !== JSON.stringify(after);
  }

  protected override beginningOf(handle: TcpHandle): Admitted {
    const own = super.beginningOf(handle);
    const fallback = this.#fallback();
    return fallback === undefined ? own : eitherOf(own, fallback.admissionOf(handle));
  }

  protected override enter(handle: TcpHandle): boolean {
    if (!this.draining) return super.enter(handle);
    handle.close();
    return false;
  }

  protected override count(listener: Listener): void {
    super.count(listener);
    const collected = this.counters?.collected;
    this.#streams = collected && new StreamCounters(listener.id, collected, this.tools.metrics);
    for (const session of this.#sessions) session.recount(this.#streams);
  }

  #route(wire: ByteSocket, serverName: string, first: Buffer | undefined): void {
    if (this.#begin(wire, serverName, first)) return;
    this.#streams?.onUnrouted();
    wire.destroy();
    this.left();
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
    return this.tools.streamOf({ place: this.place, listener: this.id, serverName, clientIp });
  }

  #countUnrecognized(): void {
    this.#streams?.onUnrouted();
    this.failures.count('unrecognized_name');
    this.counters?.onHandshakeFailure();
  }
}

interface Addressed {
  readonly remoteAddress?: string | undefined;
}

/** Returns the address of the client in the form that routes compare. */
const clientIpOf = ({ remoteAddress }: Addressed): string => plainIp(remoteAddress ?? '');
