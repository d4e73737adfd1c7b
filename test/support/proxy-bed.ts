// A proxy with its surroundings on real sockets: configurations are published by hand, ports come from the system.
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createNetServer } from 'node:net';
import { systemClock } from '../../src/clock.ts';
import type { ConfigSource, Configuration, ProxyConfig } from '../../src/model/proxy-config.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import { silentLogger } from '../../src/telemetry/logger.ts';

/** A source that a test speaks for. */
export class HandSource implements ConfigSource {
  #subscriber: ((config: ProxyConfig) => void) | undefined;
  #last: ProxyConfig | undefined;

  subscribe(subscriber: (config: ProxyConfig) => void): () => void {
    this.#subscriber = subscriber;
    if (this.#last !== undefined) subscriber(this.#last);
    return () => {
      this.#subscriber = undefined;
    };
  }

  publish(index: number, snapshot: Partial<Configuration>): void {
    const whole = { listeners: [], destinations: [], routes: [], groups: [], middlewares: [], ...snapshot };
    this.#last = { index, id: `s${index}`, name: `s${index}`, createdAt: '2026-01-01T00:00:00Z', snapshot: whole };
    this.#subscriber?.(this.#last);
  }
}

/** Everything a test opened, closed in reverse order by `end`. */
export class ProxyBed {
  readonly source = new HandSource();
  readonly proxy = createProxy({
    source: this.source,
    clock: systemClock,
    telemetry: { logger: silentLogger },
    bindAddress: '127.0.0.1',
  });
  readonly #ends: (() => Promise<void>)[] = [() => this.proxy.close({ withinMs: 0 })];
  #index = 0;

  /** Publishes, and waits until it is live. */
  async install(snapshot: Partial<Configuration>): Promise<void> {
    this.source.publish(++this.#index, snapshot);
    if (this.#index === 1) await this.proxy.start();
    await this.proxy.installed(this.#index, 5_000);
  }

  /** An HTTP upstream on a port of its own. */
  async upstream(listener: RequestListener): Promise<number> {
    const server: Server = createServer(listener);
    this.atEnd(
      () =>
        new Promise((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    );
    return listening(server);
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

/** A port that nobody listens on at the moment. */
export async function freePort(): Promise<number> {
  const server = createNetServer();
  const port = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

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
