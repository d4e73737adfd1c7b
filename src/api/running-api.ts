// Running API: listens and closes (architecture.md §7.10). Made by createApi; main.ts decides when.
import { Server } from 'node:net';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Clock } from '../util/clock.ts';
import type { Readiness } from './readiness-page.ts';

export interface Address {
  /** Host to listen on; empty: all interfaces. */
  readonly host: string;
  /** Port; 0: any free one. */
  readonly port: number;
}

/** Responses that never end by themselves. */
interface Streams {
  /** Ends them and takes no more. */
  close(): void;
  /** Aborts streams that have not been read to their end. */
  destroy(): void;
}

interface Parts {
  readonly app: NestFastifyApplication;
  readonly streams: readonly Streams[];
  readonly readiness: Readiness;
  readonly clock: Clock;
  readonly options: { readonly address: Address; readonly shutdownTimeoutMs: number };
}

/** Longest part of the shutdown that the API takes, in milliseconds; the proxy may take longer (contract.md §1.8). */
const longestDrainMs = 5_000;
/**
 * Milliseconds that idle connections are kept. A request on its way when they close would be lost, and its sender
 * could not know whether it took effect; so they end with an answer, if clients use them at all in this time.
 */
const farewellMs = 200;

export class RunningApi {
  readonly #parts: Parts;
  #closed: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async listen(): Promise<void> {
    const { app, options } = this.#parts;
    const { host, port } = options.address;
    if (host !== '') await app.listen(port, host);
    else await this.#listenEverywhere(port);
  }

  get address(): Address {
    const bound = this.#parts.app.getHttpServer().address();
    if (bound === null || typeof bound === 'string') throw new Error('the API does not listen');
    return { host: bound.address, port: bound.port };
  }

  withdraw(): void {
    this.#parts.readiness.close();
  }

  close(): Promise<void> {
    this.#closed ??= this.#drain();
    return this.#closed;
  }

  // Both families on one socket; IPv4 alone where the machine has no IPv6.
  async #listenEverywhere(port: number): Promise<void> {
    const { app } = this.#parts;
    try {
      await app.listen(port, '::');
    } catch (error) {
      if (!isNoIPv6(error)) throw error;
      await app.listen(port, '0.0.0.0');
    }
  }

  async #drain(): Promise<void> {
    const { app, streams, clock, options } = this.#parts;
    this.withdraw();
    for (const each of streams) each.close();
    const limitMs = Math.min(longestDrainMs, options.shutdownTimeoutMs);
    const cancel = clock.after(limitMs, () => {
      for (const each of streams) each.destroy();
      app.getHttpServer().closeAllConnections();
    });
    const farewell = new Promise<void>((resolve) => clock.after(Math.min(farewellMs, limitMs), resolve));
    await stopListening(app.getHttpServer());
    await farewell;
    await allRead();
    app.getHttpServer().closeIdleConnections();
    await app.close().finally(cancel);
  }
}

/**
 * Stops listening right after a turn of the event loop, which has accepted every waiting connection: the system resets
 * those that were not accepted. `net.Server` leaves open connections alone, where `http.Server` closes those without a request.
 */
async function stopListening(server: Server): Promise<void> {
  await allRead();
  Server.prototype.close.call(server);
}

/**
 * Resolves right after this turn of the event loop has taken what the system held for it: connections, and requests
 * on those that seem idle. Closed a moment before, these would be lost.
 */
const allRead = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const isNoIPv6 = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EAFNOSUPPORT' || error.code === 'EADDRNOTAVAIL');
