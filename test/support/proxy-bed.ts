// A proxy with its surroundings on real sockets: configurations are published by hand, ports come from the system.

import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createNetServer, type Socket } from 'node:net';
import { type CookieKeys, noCookieKeys } from '../../src/model/cookie-keys.ts';
import { type Drains, noDrains } from '../../src/model/drained-endpoint.ts';
import type { Candidate, ConfigSource, Configuration, ProxyConfig } from '../../src/model/proxy-config.ts';
import { createProxy, type Proxy as DataPlane, type ProxyOptions } from '../../src/proxy/proxy.ts';
import type { DataPlaneSettings } from '../../src/settings/data-plane-settings.ts';
import { type Logger, silentLogger } from '../../src/telemetry/logger.ts';
import type { Traces } from '../../src/telemetry/traces/traces.ts';
import { systemClock } from '../../src/util/clock.ts';
import { Topic } from '../../src/util/topic.ts';
import { loopbackDataPlane } from './data-plane-settings.ts';
import { eventually } from './eventually.ts';
import { WorkersInThread } from './workers-in-thread.ts';

/** A source that a test speaks for. */
export class HandSource implements ConfigSource {
  #subscriber: ((config: ProxyConfig) => void) | undefined;
  #last: ProxyConfig | undefined;
  #candidateSubscriber: ((candidate: Candidate | undefined) => void) | undefined;
  #candidate: Candidate | undefined;
  readonly cookieKeys = new Topic<CookieKeys>(noCookieKeys);
  readonly drains = new Topic<Drains>(noDrains);

  subscribe(subscriber: (config: ProxyConfig) => void): () => void {
    this.#subscriber = subscriber;
    if (this.#last !== undefined) subscriber(this.#last);
    return () => {
      this.#subscriber = undefined;
    };
  }

  subscribeCandidate(subscriber: (candidate: Candidate | undefined) => void): () => void {
    this.#candidateSubscriber = subscriber;
    if (this.#candidate !== undefined) subscriber(this.#candidate);
    return () => {
      this.#candidateSubscriber = undefined;
    };
  }

  publish(index: number, snapshot: Partial<Configuration>): void {
    this.#last = configOf(index, snapshot);
    this.#subscriber?.(this.#last);
  }

  /** Tries a configuration out. */
  offer(index: number, snapshot: Partial<Configuration>, candidate: Partial<Candidate> = {}): Candidate {
    const usual = {
      rollout: `r${index}`,
      index,
      since: index,
      share: 10,
      by: 'client',
      key: { clientIp: true },
      deadmanMs: 60_000,
    } as const;
    this.#candidate = { ...usual, config: configOf(index, snapshot), ...candidate };
    this.#candidateSubscriber?.(this.#candidate);
    return this.#candidate;
  }

  share(share: number): void {
    this.#candidate = this.#candidate && { ...this.#candidate, share };
    this.#candidateSubscriber?.(this.#candidate);
  }

  withdraw(): void {
    this.#candidate = undefined;
    this.#candidateSubscriber?.(undefined);
  }

  /** The candidate becomes active, and is withdrawn then. */
  complete(index: number): void {
    if (this.#candidate === undefined) throw new Error('there is no candidate');
    this.#last = { ...this.#candidate.config, index };
    this.#subscriber?.(this.#last);
    this.withdraw();
  }
}

export const configOf = (index: number, snapshot: Partial<Configuration>): ProxyConfig => {
  const whole = { listeners: [], destinations: [], routes: [], groups: [], middlewares: [], ...snapshot };
  return { index, id: `s${index}`, name: `s${index}`, createdAt: '2026-01-01T00:00:00Z', snapshot: whole };
};

export interface RawUpstream {
  readonly port: number;
  /** Requests as they arrived: the head, and bytes that came together with it. */
  readonly requests: readonly string[];
  readonly connections: number;
  readonly sockets: ReadonlySet<Socket>;
}

/** A client that speaks bytes. */
export class RawClient {
  readonly socket: Socket;
  /** Received bytes so far, one character each. */
  received = '';
  closed = false;

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    this.socket.on('data', (chunk: Buffer) => {
      this.received += chunk.toString('latin1');
    });
    this.socket.on('error', () => {});
    this.socket.on('end', () => this.socket.end());
    this.socket.on('close', () => {
      this.closed = true;
    });
  }

  send(bytes: string): void {
    this.socket.write(bytes, 'latin1');
  }

  /** Resolves with the text received so far once it matches. */
  async until(pattern: RegExp): Promise<string> {
    await eventually(() => {
      if (!pattern.test(this.received)) throw new Error(`no ${pattern} in ${JSON.stringify(this.received)}`);
    });
    return this.received;
  }

  /** Resolves with all text once the other side has closed. */
  async untilClosed(withinMs = 15_000): Promise<string> {
    const look = () => {
      if (!this.closed) throw new Error(`still open after ${JSON.stringify(this.received)}`);
    };
    await eventually(look, { withinMs });
    return this.received;
  }

  destroy(): void {
    this.socket.destroy();
  }
}

export interface BedOptions
  extends Partial<Pick<ProxyOptions, 'clock' | 'leases' | 'onCandidate'> & Omit<DataPlaneSettings, 'workers'>> {
  /** Number of threads for workers. Default: one worker within the calling thread. */
  readonly workers?: number | undefined;
  readonly logger?: Logger;
  readonly traces?: Traces;
}

/** Everything a test opened, closed in reverse order by `end`. */
export class ProxyBed {
  readonly source = new HandSource();
  readonly proxy: DataPlane;
  readonly #ends: (() => Promise<void>)[] = [() => this.proxy.close({ withinMs: 0 })];
  #index = 0;

  constructor({
    clock = systemClock,
    logger = silentLogger,
    traces,
    onCandidate,
    leases,
    workers,
    ...more
  }: BedOptions = {}) {
    const telemetry = { logger, traces };
    const settings = loopbackDataPlane({ ...more, ...(workers !== undefined && { workers }) });
    const threads = workers === undefined ? new WorkersInThread(clock, traces) : undefined;
    this.proxy = createProxy({ source: this.source, clock, telemetry, onCandidate, leases, settings, threads });
  }

  /** Publishes, and waits until it is live. */
  async install(snapshot: Partial<Configuration>): Promise<void> {
    this.source.publish(++this.#index, snapshot);
    if (this.#index === 1) await this.proxy.start();
    await this.proxy.installed(this.#index, 5_000);
  }

  /** An HTTP upstream on a port of its own; it closes no idle connection by itself. */
  async upstream(listener: RequestListener): Promise<number> {
    const server: Server = createServer({ keepAliveTimeout: 0 }, listener);
    this.atEnd(
      () =>
        new Promise((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    );
    return listening(server);
  }

  /** Opens an upstream that speaks bytes: `answer` is called with each request head and the bytes that came with it. */
  async rawUpstream(answer: (socket: Socket, request: string) => void): Promise<RawUpstream> {
    const sockets = new Set<Socket>();
    const upstream = { port: 0, requests: [] as string[], connections: 0, sockets };
    const server = createNetServer((socket) => {
      upstream.connections++;
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
      socket.on('data', (chunk: Buffer) => {
        const text = chunk.toString('latin1');
        if (!/^[A-Z]+ \S+ HTTP\/1\.1\r\n/.test(text)) return;
        upstream.requests.push(text);
        answer(socket, text);
      });
    });
    upstream.port = await listening(server);
    this.atEnd(
      () =>
        new Promise((resolve) => {
          for (const socket of sockets) socket.destroy();
          server.close(() => resolve());
        }),
    );
    return upstream;
  }

  /** A client connection to `port`, closed at the end. */
  wire(port: number): RawClient {
    const wire = new RawClient(port);
    this.atEnd(async () => wire.destroy());
    return wire;
  }

  atEnd(end: () => Promise<void>): void {
    this.#ends.push(end);
  }

  async end(): Promise<void> {
    for (const end of this.#ends.reverse()) await end();
  }
}

export function listening(server: Server | ReturnType<typeof createNetServer>): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

export interface ForwardingOptions {
  readonly listener?: object;
  readonly destination?: object;
  readonly forward?: object;
  readonly route?: object;
}

/** One listener and one route that forwards everything to one destination. */
export const forwarding = (
  port: number,
  upstreamPort: number,
  options: ForwardingOptions = {},
): Partial<Configuration> => ({
  listeners: [{ id: 'l', name: 'l', port, ...options.listener }],
  destinations: [{ id: 'd', name: 'd', host: '127.0.0.1', port: upstreamPort, ...options.destination }],
  routes: [
    { id: 'r', name: 'r', forward: { destinations: [{ destinationId: 'd' }], ...options.forward }, ...options.route },
  ],
});

/** Sends `bytes` on a connection of its own and gives all that comes back until the other side closes. */
export function rawExchange(port: number, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? undefined : reject(error)));
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
  });
}
