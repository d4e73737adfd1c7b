// HTTP service of a port. Its settings can be swapped while connections stay; the port stops accepting before it
// drains, so that accepted connections are still served.
import { listenerDefaults } from '../../model/defaults.ts';
import type { Listener } from '../../model/listener.ts';
import { compileErrorPages } from '../action/error-pages.ts';
import { httpsRedirect } from '../action/redirect-to-https.ts';
import type { ExchangeContext, ServeSettings } from '../exchange/exchange-context.ts';
import type { LocalReply } from '../exchange/phase.ts';
import { valueText } from '../fields/field-lines.ts';
import { ServerConnection } from '../http1/server/server-connection.ts';
import { Http2Connection } from '../http2/server/server-session.ts';
import { TrustedProxies } from '../message/client-address.ts';
import { collectedOf, sameBuckets } from '../metrics/collected.ts';
import { expositionType } from '../metrics/exposition.ts';
import type { Collected } from '../metrics/families.ts';
import { durationMs } from '../parsed-duration.ts';
import type { ByteSocket, SocketReceiver } from '../socket/byte-socket.ts';
import type { Security } from '../socket/security.ts';
import type { TcpHandle } from '../socket/stream-handle.ts';
import { TcpSocket } from '../socket/tcp-socket.ts';
import type { Handshake } from '../tls/handshake.ts';
import { GatedService } from './gated-service.ts';
import type { BegunHandshake, PortOwner } from './listener-service.ts';
import type { ListenerTools } from './listener-tools.ts';
import { PathReport } from './path-report.ts';
import { ProtocolChoice } from './protocol-choice.ts';
import { Scrapes } from './scrapes.ts';

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
export class HttpService extends GatedService {
  readonly #connections = new Set<ListenerConnection>();
  readonly #context: ExchangeContext;
  readonly #pathReport: PathReport;
  readonly #scrapes: Scrapes;
  #settings: ServeSettings;

  constructor(owner: PortOwner, place: string, tools: ListenerTools) {
    super(owner, place, tools);
    const { listener } = owner;
    const { installed, clock, wheel, telemetry } = tools;
    this.#settings = settingsOf(listener);
    this.#scrapes = new Scrapes(() => clock.monotonicMs());
    this.#pathReport = new PathReport(listener.name, wheel, telemetry.logger);
    this.#context = {
      wheel,
      clock,
      dataPlane: tools.settings,
      heads: tools.heads,
      observer: () => this.counters,
      figures: tools.figures,
      recent: tools.recent,
      mismatches: tools.mismatches,
      traces: tools.traces,
      scrape: () => this.#scrapes.begin(() => this.#exposition()),
      installed: (request) => installed(request, place),
      served: (listeners) => listeners.at(place, this.id),
      settings: () => this.#settings,
      reportPath: (sent, canonical) => this.#pathReport.count(sent, canonical),
    };
    this.count(listener);
  }

  override configure(owner: PortOwner): void {
    const { terminator: former } = this.owner;
    super.configure(owner);
    const { listener, terminator } = owner;
    this.#pathReport.listener = listener.name;
    const settings = settingsOf(listener);
    // Most activations change neither, and connections may be many.
    const isOther = terminator !== former || settings.http2 !== this.#settings.http2;
    this.#settings = settings;
    if (isOther) for (const connection of this.#connections) if (!this.#admits(connection)) connection.drain();
  }

  override async drain(withinMs: number): Promise<void> {
    const empty = this.untilEmpty();
    for (const connection of this.#connections) connection.drain();
    const { clock } = this.tools;
    const cancels = [
      clock.after(Math.min(graceMs, withinMs), () => this.#endIdle()),
      clock.after(withinMs, () => this.#cut()),
    ];
    await empty;
    for (const cancel of cancels) cancel();
  }

  override onSecured(handshake: Handshake, wire: ByteSocket, spentMs: number): void {
    this.gates.delete(handshake);
    this.#serve(wire, spentMs);
  }

  protected override get served(): number {
    return this.#connections.size;
  }

  protected override begin(handle: TcpHandle, begun: BegunHandshake | undefined): void {
    const wire = new TcpSocket(handle, { halfOpen: true, attached: begun !== undefined });
    this.#serve(wire, begun?.spentMs ?? 0);
    if (begun !== undefined && begun.bytes.length > 0) wire.receiver?.onBytes(begun.bytes, begun.bytes.length);
  }

  protected override startsOver(before: Collected, after: Collected): boolean {
    return !sameBuckets(before, after);
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
      this.left();
      return undefined;
    }
    const Chosen = protocol === 'http2' ? Http2Connection : ServerConnection;
    return this.#add(new Chosen(wire, this.#context, this.#forget, spentMs));
  };

  #add<C extends ListenerConnection>(connection: C): C {
    this.#connections.add(connection);
    if (this.draining || !this.#admits(connection)) connection.drain();
    return connection;
  }

  /**
   * Returns whether the connection would be admitted now: the settings may have changed since it began, or during its
   * handshake.
   */
  #admits(connection: ListenerConnection): boolean {
    const { security } = connection;
    if (connection instanceof Http2Connection && !this.#settings.http2) return false;
    const { terminator } = this.owner;
    if (terminator === undefined || security === undefined) return terminator === undefined && security === undefined;
    return terminator.admits(security);
  }

  readonly #forget = (connection: ListenerConnection): void => {
    this.#connections.delete(connection);
    this.left();
  };

  async #exposition(): Promise<LocalReply> {
    const collected = this.counters?.collected;
    const body = collected === undefined ? '' : await this.tools.scrape(this.id, collected);
    return { status: 200, fields: ['Content-Type', expositionType], body };
  }

  #endIdle(): void {
    for (const connection of this.#connections) if (connection.idle) connection.destroy();
    for (const gate of this.gates) gate.destroy();
  }

  #cut(): void {
    for (const connection of this.#connections) connection.destroy();
    for (const gate of this.gates) gate.destroy();
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
