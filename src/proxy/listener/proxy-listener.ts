// One open port of the proxy. Its settings can be swapped while connections stay; when it ends it stops accepting
// first, so that what was accepted already is still served.
import { createServer, type Server } from 'node:net';
import { listenerDefaults } from '../../model/defaults.ts';
import { hides } from '../../model/hidden.ts';
import type { Listener } from '../../model/listener.ts';
import { mask } from '../../model/secret-texts.ts';
import type { Logger, Telemetry } from '../../telemetry/logger.ts';
import type { Clock } from '../../util/clock.ts';
import type { ExchangeContext, Installed, ServeSettings } from '../exchange/context.ts';
import type { LocalReply } from '../exchange/phase.ts';
import { fieldText } from '../fields/field-lines.ts';
import { ServerConnection } from '../http1/server/server-connection.ts';
import { Http2Connection } from '../http2/server/server-session.ts';
import { TrustedProxies } from '../message/client-address.ts';
import type { RoutedRequest } from '../message/routed-request.ts';
import { collectedOf, sameBuckets } from '../metrics/collected.ts';
import { expositionType } from '../metrics/exposition.ts';
import type { Collected } from '../metrics/families.ts';
import { ListenerCounters } from '../metrics/listener-counters.ts';
import type { MetricBlock } from '../metrics/metric-block.ts';
import { durationMs } from '../parsed-duration.ts';
import type { RecentRequests } from '../requests/request-recorder.ts';
import type { Figures } from '../shared/figures.ts';
import { acceptHandles } from '../socket/accepting.ts';
import type { ByteSocket, SocketReceiver } from '../socket/byte-socket.ts';
import type { Security } from '../socket/security.ts';
import type { TcpHandle } from '../socket/stream-handle.ts';
import { TcpSocket } from '../socket/tcp-socket.ts';
import type { UnfinishedHeads } from '../socket/unfinished-heads.ts';
import { Handshake, type HandshakeOwner } from '../tls/handshake.ts';
import { HandshakeFailures } from '../tls/handshake-failures.ts';
import type { TlsTerminator } from '../tls/terminator.ts';
import type { ExchangeTraces } from '../tracing/exchange-traces.ts';
import type { Wheel } from '../wheel.ts';
import { Admission, type ClientBounds } from './connection-admission.ts';
import { PathReport } from './path-report.ts';
import { ProtocolChoice } from './protocol-choice.ts';

export interface OpenListener {
  /** Id of the listener that has the port. */
  readonly id: string;
  /** Nothing is counted for that listener any more. */
  forgetCounters(): void;
  /** TLS handshakes that did not succeed, by reason, ever since it opened. */
  readonly handshakeFailures: ReadonlyMap<string, number>;
  /**
   * Swaps everything but the address, for connections to come. Those that are open keep their TLS; what would not be let
   * in as it was is drained.
   */
  configure(listener: Listener, terminator: TlsTerminator | undefined, memory: SharedArrayBuffer | undefined): void;
  /** Stops accepting, ends connections that stay idle, gives the others `withinMs`, then cuts them. */
  close(withinMs: number): Promise<void>;
}

export interface ListenerPlace {
  /** In which the listener's own connections are counted; undefined: it has no limit of its own. */
  readonly memory: SharedArrayBuffer | undefined;
  readonly address: string;
  readonly port: number;
  /** Other workers listen on the same port. */
  readonly shared: boolean;
}

/** What every listener of a worker works with. */
export interface ListenerTools {
  /** What serves a request that has come to the listener at `place`, `address:port`. */
  readonly installed: (request: RoutedRequest, place: string) => Installed;
  readonly clock: Clock;
  readonly wheel: Wheel;
  readonly telemetry: Telemetry;
  readonly metrics: MetricBlock;
  readonly figures: Figures;
  readonly recent: RecentRequests | undefined;
  /** Undefined: nothing is traced. */
  readonly traces: ExchangeTraces | undefined;
  /** Text of everything that was counted on a listener, by all workers. */
  readonly scrape: (listener: string, collected: Collected) => Promise<Uint8Array>;
  /** Bytes of a body that expressions may see; 0 = none. */
  readonly celBodyBytesMax: number;
  /** Bytes of a body that are kept for another try. */
  readonly retryBytesMax: number;
  readonly clients: ClientBounds;
  /** Of the thread. */
  readonly heads: UnfinishedHeads;
}

/** Rejects with the system's error when the port cannot be bound. Without a terminator bytes travel as they are. */
export async function openListener(
  place: ListenerPlace,
  listener: Listener,
  terminator: TlsTerminator | undefined,
  tools: ListenerTools,
): Promise<OpenListener> {
  const port = new Port(listener, terminator, place.memory, tools);
  await port.bind(place);
  return port;
}

/** A client that was accepted but has sent nothing yet may be about to: it keeps this long when the port closes. */
const graceMs = 1_000;

/** A client's connection, whatever it speaks. */
interface ListenerConnection {
  readonly security: Security | undefined;
  /** Between two requests, with nothing of the next one here yet. */
  readonly idle: boolean;
  /** The port is closing, or is not for this client any more: the client is told, where there is a way. */
  drain(): void;
  /** Ends at once, whatever is under way. */
  destroy(): void;
}

class Port implements OpenListener, HandshakeOwner {
  readonly #server: Server = createServer();
  readonly #connections = new Set<ListenerConnection>();
  readonly #handshakes = new Set<Handshake>();
  readonly #context: ExchangeContext;
  readonly #clock: Clock;
  readonly #wheel: Wheel;
  readonly #pathReport: PathReport;
  readonly #failures: HandshakeFailures;
  readonly #logger: Logger;
  readonly #admission: Admission;
  readonly #tools: ListenerTools;
  #listener: Listener;
  #counters: ListenerCounters | undefined;
  #settings: ServeSettings;
  #terminator: TlsTerminator | undefined;
  #draining = false;
  /** `address:port`. */
  #place = '';
  /** Called when the last connection has ended. */
  #onEmpty = (): void => {};

  constructor(
    listener: Listener,
    terminator: TlsTerminator | undefined,
    memory: SharedArrayBuffer | undefined,
    tools: ListenerTools,
  ) {
    const { installed, clock, wheel, telemetry, celBodyBytesMax, retryBytesMax } = tools;
    this.#tools = tools;
    this.#listener = listener;
    this.#counters = this.#countersOf(listener);
    this.#clock = clock;
    this.#wheel = wheel;
    this.#terminator = terminator;
    this.#failures = new HandshakeFailures(listener.name, wheel, telemetry.logger);
    this.#logger = telemetry.logger;
    this.#admission = new Admission(listener, memory, tools.clients, wheel, telemetry.logger);
    this.#settings = settingsOf(listener);
    this.#pathReport = new PathReport(listener.name, wheel, telemetry.logger);
    this.#context = {
      wheel,
      clock,
      celBodyBytesMax,
      retryBytesMax,
      heads: tools.heads,
      observer: () => this.#counters,
      figures: tools.figures,
      recent: tools.recent,
      traces: tools.traces,
      scrape: () => this.#scrape(),
      installed: (request) => installed(request, this.#place),
      settings: () => this.#settings,
      reportPath: (sent, canonical) => this.#pathReport.count(sent, canonical),
    };
  }

  bind({ address, port, shared }: ListenerPlace): Promise<void> {
    this.#place = `${address}:${port}`;
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ port, host: address, backlog: 1024, reusePort: shared }, () => {
        this.#server.off('error', reject);
        acceptHandles(this.#server, (handle) => this.#accept(handle));
        this.#server.on('error', ({ message }) => this.#logger.warn({ port, message }, 'a connection is not accepted'));
        resolve();
      });
    });
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

  configure(listener: Listener, terminator: TlsTerminator | undefined, memory: SharedArrayBuffer | undefined): void {
    this.#recount(listener);
    this.#admission.follow(listener, memory);
    this.#listener = listener;
    this.#pathReport.listener = listener.name;
    this.#failures.listener = listener.name;
    const settings = settingsOf(listener);
    // Most activations change neither, and connections may be many.
    const isOther = terminator !== this.#terminator || settings.http2 !== this.#settings.http2;
    this.#settings = settings;
    this.#terminator = terminator;
    if (isOther) for (const connection of this.#connections) if (!this.#admits(connection)) connection.drain();
  }

  async close(withinMs: number): Promise<void> {
    this.#draining = true;
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    this.#lookEmpty();
    for (const connection of this.#connections) connection.drain();
    const cancels = [
      this.#clock.after(Math.min(graceMs, withinMs), () => this.#endIdle()),
      this.#clock.after(withinMs, () => this.#cut()),
    ];
    await Promise.all([closed, empty]);
    for (const cancel of cancels) cancel();
  }

  #accept(handle: TcpHandle): void {
    if (!this.#admission.enter(handle.fd)) {
      handle.close();
      return;
    }
    const terminator = this.#terminator;
    this.#counters?.onConnection();
    if (terminator === undefined) this.#serve(new TcpSocket(handle, { halfOpen: true }), 0);
    else this.#handshakes.add(new Handshake(handle, terminator, this, this.#wheel, this.#settings.clientHeaderMs));
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

  /** The one place that knows which class serves which protocol; `wire.security.protocol` is what ALPN chose. */
  #serve(wire: ByteSocket, spentMs: number): void {
    const { http2 } = this.#settings;
    if (wire.security?.protocol === 'h2') this.#add(new Http2Connection(wire, this.#context, this.#forget, spentMs));
    else if (http2 && wire.security === undefined) this.#add(new ProtocolChoice(wire, this.#context, this.#chosen));
    else this.#add(new ServerConnection(wire, this.#context, this.#forget, spentMs));
  }

  /** A connection takes the place of the choice; none when the client has gone without a word. */
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

  /** Whether it could be what it is if its client came now: its settings may have changed since, or while it came. */
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

  /** What was counted stays, unless it is another listener, counts nothing any more, or counts into other buckets. */
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
    const collected = collectedOf(listener);
    if (collected === undefined) return undefined;
    const { id, name, address = listenerDefaults.address, port } = listener;
    const shown = hides(listener, '/address') ? mask : address;
    return new ListenerCounters({ id, name, address: `${shown}:${port}` }, collected, this.#tools.metrics);
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
    uniqueParameters: (listener.duplicateQueryParams ?? listenerDefaults.duplicateQueryParams) === 'reject',
    trusted: new TrustedProxies(listener.trustedProxies ?? []),
    debugHeaders: listener.debugHeaders ?? listenerDefaults.debugHeaders,
    metricsPath: collectedOf(listener)?.path,
    serverName: listener.serverName ? fieldText(listener.serverName) : undefined,
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
