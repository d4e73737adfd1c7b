// HTTP service of a port. Its settings can be swapped while connections stay; the port stops accepting before it
// drains, so that accepted connections are still served.
import { listenerDefaults } from '../../model/defaults.ts';
import type { Listener } from '../../model/listener.ts';
import type { DataPlaneSettings } from '../../settings/data-plane-settings.ts';
import type { Telemetry } from '../../telemetry/logger.ts';
import type { Clock } from '../../util/clock.ts';
import { compileErrorPages } from '../action/error-pages.ts';
import { httpsRedirect } from '../action/redirect-to-https.ts';
import type { ExchangeContext, Installed, ServeSettings } from '../exchange/exchange-context.ts';
import type { LocalReply } from '../exchange/phase.ts';
import { valueText } from '../fields/field-lines.ts';
import { ServerConnection } from '../http1/server/server-connection.ts';
import { Http2Connection } from '../http2/server/server-session.ts';
import { TrustedProxies } from '../message/client-address.ts';
import type { RoutedRequest } from '../message/routed-request.ts';
import { collectedOf, sameBuckets } from '../metrics/collected.ts';
import { expositionType } from '../metrics/exposition.ts';
import type { Collected } from '../metrics/families.ts';
import { countersOf, type ListenerCounters } from '../metrics/listener-counters.ts';
import type { MetricBlock } from '../metrics/metric-block.ts';
import { durationMs } from '../parsed-duration.ts';
import type { RecentRequests } from '../requests/request-recorder.ts';
import type { Figures } from '../shared/figures.ts';
import type { ByteSocket, SocketReceiver } from '../socket/byte-socket.ts';
import type { Security } from '../socket/security.ts';
import type { TcpHandle } from '../socket/stream-handle.ts';
import { TcpSocket } from '../socket/tcp-socket.ts';
import type { UnfinishedHeads } from '../socket/unfinished-heads.ts';
import type { FoundStream, StreamQuestion } from '../stream/stream-question.ts';
import { Handshake, type HandshakeOwner } from '../tls/handshake.ts';
import { HandshakeFailures } from '../tls/handshake-failures.ts';
import type { TlsTerminator } from '../tls/terminator.ts';
import type { ExchangeTraces } from '../tracing/exchange-traces.ts';
import type { Wheel } from '../wheel.ts';
import { Admission, type ClientBounds } from './connection-admission.ts';
import type { BegunHandshake, ListenerService, PortOwner } from './listener-service.ts';
import { PathReport } from './path-report.ts';
import { ProtocolChoice } from './protocol-choice.ts';
import { type Admitted, ProxyAdmission } from './proxy-admission.ts';
import { ProxyGate, type ProxyGateOwner } from './proxy-gate.ts';

/** Services of a worker for all its listeners. */
export interface ListenerTools {
  /** Returns the configuration for a request on the listener at `place`, `address:port`. */
  readonly installed: (request: RoutedRequest, place: string) => Installed;
  /** Returns the route of a connection on a listener of protocol tcp, and the configuration that it is of. */
  readonly streamOf: (connection: StreamQuestion) => FoundStream | undefined;
  readonly clock: Clock;
  readonly wheel: Wheel;
  readonly telemetry: Telemetry;
  readonly metrics: MetricBlock;
  readonly figures: Figures;
  readonly recent: RecentRequests | undefined;
  readonly mismatches: ExchangeContext['mismatches'];
  /** Undefined when tracing is off. */
  readonly traces: ExchangeTraces | undefined;
  /** Returns the metrics of a listener, of all workers, as text. */
  readonly scrape: (listener: string, collected: Collected) => Promise<Uint8Array>;
  readonly settings: DataPlaneSettings;
  readonly clients: ClientBounds;
  /** Incomplete request heads of the thread. */
  readonly heads: UnfinishedHeads;
}

/** Milliseconds that a client without a request so far keeps when the port closes: its request may be in transit. */
const graceMs = 1_000;

/** Connection of a client, in any protocol. */
interface ListenerConnection {
  readonly security: Security | undefined;
  /** True between two requests, with no byte of the next one received. */
  readonly idle: boolean;
  /**
   * Announces the end to the client, where the protocol can: the port closes, or does not admit this client any more.
   */
  drain(): void;
  /** Closes at once, in any state. */
  destroy(): void;
}

/** Listener of protocol http. */
export class HttpService implements ListenerService, ProxyGateOwner, HandshakeOwner {
  readonly #connections = new Set<ListenerConnection>();
  /** Connections that are not served yet. */
  readonly #handshakes = new Set<Handshake | ProxyGate>();
  #proxies: ProxyAdmission;
  readonly #context: ExchangeContext;
  readonly #clock: Clock;
  readonly #wheel: Wheel;
  readonly #pathReport: PathReport;
  readonly #failures: HandshakeFailures;
  readonly #admission: Admission;
  readonly #tools: ListenerTools;
  #listener: Listener;
  #counters: ListenerCounters | undefined;
  #settings: ServeSettings;
  #terminator: TlsTerminator | undefined;
  #draining = false;
  /** `address:port`. */
  readonly #place: string;
  /** Called when the last connection has ended. */
  #onEmpty = (): void => {};

  constructor({ listener, terminator, memory }: PortOwner, place: string, tools: ListenerTools) {
    const { installed, clock, wheel, telemetry } = tools;
    this.#tools = tools;
    this.#place = place;
    this.#listener = listener;
    this.#counters = this.#countersOf(listener);
    this.#clock = clock;
    this.#wheel = wheel;
    this.#terminator = terminator;
    this.#failures = new HandshakeFailures(listener.name, wheel, telemetry.logger);
    this.#admission = new Admission(listener, memory, tools.clients, wheel, telemetry.logger);
    this.#settings = settingsOf(listener);
    this.#proxies = new ProxyAdmission(listener);
    this.#pathReport = new PathReport(listener.name, wheel, telemetry.logger);
    this.#context = {
      wheel,
      clock,
      dataPlane: tools.settings,
      heads: tools.heads,
      observer: () => this.#counters,
      figures: tools.figures,
      recent: tools.recent,
      mismatches: tools.mismatches,
      traces: tools.traces,
      scrape: () => this.#scrape(),
      installed: (request) => installed(request, this.#place),
      served: (listeners) => listeners.at(this.#place, this.#listener.id),
      settings: () => this.#settings,
      reportPath: (sent, canonical) => this.#pathReport.count(sent, canonical),
    };
  }

  get id(): string {
    return this.#listener.id;
  }

  forgetCounters(): void {
    this.#counters?.end();
    this.#counters = undefined;
  }

  get handshakeFailures(): ReadonlyMap<string, number> {
    return this.#failures.counts;
  }

  configure({ listener, terminator, memory }: PortOwner): void {
    this.#recount(listener);
    this.#admission.follow(listener, memory);
    this.#listener = listener;
    this.#pathReport.listener = listener.name;
    this.#failures.listener = listener.name;
    this.#proxies = new ProxyAdmission(listener);
    const settings = settingsOf(listener);
    // Most activations change neither, and connections may be many.
    const isOther = terminator !== this.#terminator || settings.http2 !== this.#settings.http2;
    this.#settings = settings;
    this.#terminator = terminator;
    if (isOther) for (const connection of this.#connections) if (!this.#admits(connection)) connection.drain();
  }

  async drain(withinMs: number): Promise<void> {
    this.#draining = true;
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    this.#lookEmpty();
    for (const connection of this.#connections) connection.drain();
    const cancels = [
      this.#clock.after(Math.min(graceMs, withinMs), () => this.#endIdle()),
      this.#clock.after(withinMs, () => this.#cut()),
    ];
    await empty;
    for (const cancel of cancels) cancel();
  }

  accept(handle: TcpHandle): void {
    if (!this.#enter(handle)) return;
    const admitted = this.#proxies.of(handle);
    if (admitted === 'direct') this.#open(handle, undefined);
    else if (admitted === 'refused') this.#refuse(handle, 'stranger');
    else {
      const { clientHeaderMs } = this.#settings;
      const { heads } = this.#context;
      this.#handshakes.add(new ProxyGate(handle, admitted === 'required', this, this.#wheel, heads, clientHeaderMs));
    }
  }

  admissionOf(handle: TcpHandle): Admitted {
    return this.#proxies.of(handle);
  }

  #refuse(handle: TcpHandle, result: 'malformed' | 'stranger'): void {
    this.#failures.count('proxy_header');
    this.#counters?.onProxyHeader(result);
    handle.close();
    this.#left();
  }

  onProxied(gate: ProxyGate, begun: BegunHandshake): void {
    this.#handshakes.delete(gate);
    this.#counters?.onProxyHeader(begun.handle.hasProxyHeader === true ? 'read' : 'absent');
    this.#open(begun.handle, begun);
  }

  onNotProxied(gate: ProxyGate, reason: string | undefined): void {
    this.#handshakes.delete(gate);
    if (reason !== undefined) {
      this.#failures.count(reason);
      this.#counters?.onProxyHeader(reason === 'proxy_header' ? 'malformed' : 'incomplete');
    }
    this.#left();
  }

  /** `begun`: what was read of the connection before. */
  #open(handle: TcpHandle, begun: BegunHandshake | undefined): void {
    const terminator = this.#terminator;
    if (terminator !== undefined) {
      const { clientHeaderMs } = this.#settings;
      this.#handshakes.add(new Handshake(handle, terminator, this, this.#wheel, clientHeaderMs, begun));
      return;
    }
    const wire = new TcpSocket(handle, { halfOpen: true, attached: begun !== undefined });
    this.#serve(wire, begun?.spentMs ?? 0);
    if (begun !== undefined && begun.bytes.length > 0) wire.receiver?.onBytes(begun.bytes, begun.bytes.length);
  }

  takeOver({ handle, bytes, spentMs }: BegunHandshake): void {
    const terminator = this.#terminator;
    const { clientHeaderMs } = this.#settings;
    if (terminator === undefined) {
      handle.close();
      return;
    }
    if (!this.#enter(handle)) return;
    const refusal = this.#proxies.refusalOf(handle);
    if (refusal !== undefined) this.#refuse(handle, refusal);
    else this.#handshakes.add(new Handshake(handle, terminator, this, this.#wheel, clientHeaderMs, { bytes, spentMs }));
  }

  #enter(handle: TcpHandle): boolean {
    if (!this.#admission.enter(handle.fd)) {
      handle.close();
      return false;
    }
    this.#counters?.onConnection();
    return true;
  }

  onSecured(handshake: Handshake, wire: ByteSocket, spentMs: number): void {
    this.#handshakes.delete(handshake);
    this.#serve(wire, spentMs);
  }

  onNotSecured(handshake: Handshake, reason: string | undefined): void {
    this.#handshakes.delete(handshake);
    this.#left();
    if (reason !== undefined) {
      this.#failures.count(reason);
      this.#counters?.onHandshakeFailure();
    }
  }

  /**
   * Creates the connection for a protocol, the only place that knows the classes; `wire.security.protocol` is the
   * result of ALPN.
   */
  #serve(wire: ByteSocket, spentMs: number): void {
    const { http2 } = this.#settings;
    if (wire.security?.protocol === 'h2') this.#add(new Http2Connection(wire, this.#context, this.#forget, spentMs));
    else if (http2 && wire.security === undefined) this.#add(new ProtocolChoice(wire, this.#context, this.#chosen));
    else this.#add(new ServerConnection(wire, this.#context, this.#forget, spentMs));
  }

  /** Replaces the choice by a connection; by none when the client has gone without a byte. */
  readonly #chosen = (
    choice: ProtocolChoice,
    protocol: 'http1' | 'http2' | 'none',
    spentMs: number,
  ): SocketReceiver | undefined => {
    const { wire } = choice;
    this.#connections.delete(choice);
    if (protocol === 'none') {
      this.#left();
      return undefined;
    }
    const Chosen = protocol === 'http2' ? Http2Connection : ServerConnection;
    return this.#add(new Chosen(wire, this.#context, this.#forget, spentMs));
  };

  #add<C extends ListenerConnection>(connection: C): C {
    this.#connections.add(connection);
    if (this.#draining || !this.#admits(connection)) connection.drain();
    return connection;
  }

  /**
   * Returns whether the connection would be admitted now: the settings may have changed since it began, or during its
   * handshake.
   */
  #admits(connection: ListenerConnection): boolean {
    const { security } = connection;
    if (connection instanceof Http2Connection && !this.#settings.http2) return false;
    if (this.#terminator === undefined || security === undefined)
      return this.#terminator === undefined && security === undefined;
    return this.#terminator.admits(security);
  }

  readonly #forget = (connection: ListenerConnection): void => {
    this.#connections.delete(connection);
    this.#left();
  };

  #left(): void {
    this.#admission.leave();
    this.#counters?.onConnectionEnd();
    this.#lookEmpty();
  }

  /** Keeps the metrics, unless the port has another listener, has no metrics any more, or has other buckets. */
  #recount(listener: Listener): void {
    const before = this.#counters?.collected;
    const after = collectedOf(listener);
    const { id, name } = this.#listener;
    const stays = before !== undefined && after !== undefined && listener.id === id && listener.name === name;
    if (stays && sameBuckets(before, after)) {
      if (JSON.stringify(before) !== JSON.stringify(after)) this.#counters = this.#countersOf(listener);
      return;
    }
    if (before !== undefined) {
      this.#counters?.end();
      this.#tools.metrics.forget(id);
    }
    this.#counters = this.#countersOf(listener);
    this.#counters?.alreadyOpen(this.#connections.size + this.#handshakes.size);
  }

  #countersOf(listener: Listener): ListenerCounters | undefined {
    return countersOf(listener, collectedOf(listener), this.#tools.metrics);
  }

  async #scrape(): Promise<LocalReply> {
    const collected = this.#counters?.collected;
    const body = collected === undefined ? '' : await this.#tools.scrape(this.#listener.id, collected);
    return { status: 200, fields: ['Content-Type', expositionType], body };
  }

  #lookEmpty(): void {
    if (this.#connections.size + this.#handshakes.size === 0) this.#onEmpty();
  }

  #endIdle(): void {
    for (const connection of this.#connections) if (connection.idle) connection.destroy();
    for (const handshake of this.#handshakes) handshake.destroy();
  }

  #cut(): void {
    for (const connection of this.#connections) connection.destroy();
    for (const handshake of this.#handshakes) handshake.destroy();
  }
}

function settingsOf(listener: Listener): ServeSettings {
  const { timeouts } = listener;
  const defaults = listenerDefaults.timeouts;
  return {
    headLimits: {
      startLineBytesMax: 65_536,
      headBytesMax: 1 << 20,
      fieldBytesMax: (listener.maxRequestHeadersKB ?? listenerDefaults.maxRequestHeadersKB) * 1024,
      linesMax: listener.maxRequestHeaders ?? listenerDefaults.maxRequestHeaders,
    },
    pathNormalization: listener.pathNormalization ?? listenerDefaults.pathNormalization,
    redirect: listener.redirectToHttps && httpsRedirect(listener.redirectToHttps),
    strictSections: listener.tls?.strictServerName === true && (listener.sections?.length ?? 0) > 0,
    uniqueParameters: (listener.duplicateQueryParams ?? listenerDefaults.duplicateQueryParams) === 'reject',
    trusted: new TrustedProxies(listener.trustedProxies ?? []),
    debugHeaders: listener.debugHeaders ?? listenerDefaults.debugHeaders,
    metricsPath: listener.metrics?.onListener === false ? undefined : collectedOf(listener)?.path,
    metricsClients: listener.metrics?.allow?.length ? new TrustedProxies(listener.metrics.allow) : undefined,
    serverName: listener.serverName ? valueText(listener.serverName) : undefined,
    errorPages: compileErrorPages(listener.errorPages),
    bodyBytesMax: listener.maxRequestBodyBytes ?? listenerDefaults.maxRequestBodyBytes,
    detail: listener.proxyErrors?.detail ?? listenerDefaults.proxyErrors.detail,
    clientHeaderMs: durationMs(timeouts?.clientHeader, defaults.clientHeader),
    clientRequestMs: durationMs(timeouts?.clientRequest, defaults.clientRequest),
    clientResponseMs: durationMs(timeouts?.clientResponse, 0),
    clientStallMs: timeouts?.clientResponse === undefined ? durationMs(undefined, defaults.clientResponse) : 0,
    idleMs: durationMs(timeouts?.idleBetweenRequests, defaults.idleBetweenRequests),
    idleTunnelMs: durationMs(timeouts?.idleTunnel, defaults.idleTunnel),
    http2: listener.http2 ?? listenerDefaults.http2,
    streamsMax: listener.http2Options?.maxConcurrentStreams ?? listenerDefaults.http2Options.maxConcurrentStreams,
    resetsPerSecond: listener.http2Options?.maxResetsPerSecond ?? listenerDefaults.http2Options.maxResetsPerSecond,
  };
}
