// Listening and closing (architecture.md §7.10). Made by createApi; main.ts decides when.
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Clock } from '../clock.ts';
import type { SnapshotStreams } from '../feed/sse.ts';
import type { Readiness } from './readiness.ts';

export interface Address {
  /** Empty: all interfaces. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
}

interface Parts {
  readonly app: NestFastifyApplication;
  readonly streams: SnapshotStreams;
  readonly readiness: Readiness;
  readonly clock: Clock;
  readonly options: { readonly address: Address; readonly shutdownTimeoutMs: number };
}

/** What the API takes of the shutdown at most; the proxy may take longer (contract.md §1.8). */
const longestDrainMs = 5_000;

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
    streams.close();
    const cancel = clock.after(Math.min(longestDrainMs, options.shutdownTimeoutMs), () => {
      streams.destroy();
      app.getHttpServer().closeAllConnections();
    });
    await app.close().finally(cancel);
  }
}

const isNoIPv6 = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EAFNOSUPPORT' || error.code === 'EADDRNOTAVAIL');
