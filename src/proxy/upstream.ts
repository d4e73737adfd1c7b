// Destinations as a running proxy holds them: their endpoints in turn, one connection pool each. What a configuration
// does not change is kept together with its connections (architecture.md §6.15).
import { Pool } from 'undici';
import type { ProxyErrorType } from '../errors.ts';
import type { Destination } from '../model/destination.ts';
import { durationMs } from './duration.ts';

export interface UpstreamEndpoint {
  /** `host:port`. */
  readonly name: string;
  readonly pool: Pool;
}

export interface Upstream {
  readonly id: string;
  readonly host: string;
  /** Total budget in milliseconds; 0 = none. */
  readonly requestMs: number;
  /** Set when nothing may be sent there: what it asks for is not built, and plaintext is no substitute. */
  readonly closed: ProxyErrorType | undefined;
  next(): UpstreamEndpoint;
}

export class Upstreams {
  #held = new Map<string, { readonly content: string; readonly upstream: Upstream; readonly pools: readonly Pool[] }>();

  get(id: string): Upstream | undefined {
    return this.#held.get(id)?.upstream;
  }

  /** Takes the place of the former list; pools that nobody names any more end with their last exchange. */
  install(destinations: readonly Destination[]): void {
    const former = this.#held;
    this.#held = new Map();
    for (const destination of destinations) {
      const content = JSON.stringify(destination);
      const same = former.get(destination.id);
      if (same?.content === content) {
        this.#held.set(destination.id, same);
        former.delete(destination.id);
      } else {
        const { upstream, pools } = open(destination);
        this.#held.set(destination.id, { content, upstream, pools });
      }
    }
    for (const { pools } of former.values()) for (const pool of pools) void pool.close();
  }

  async close(): Promise<void> {
    const pools = [...this.#held.values()].flatMap((held) => held.pools);
    this.#held.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }
}

function open(destination: Destination): { upstream: Upstream; pools: readonly Pool[] } {
  const { id, host, port, options } = destination;
  const addresses: readonly { host: string; port: number }[] =
    destination.endpoints !== undefined && destination.endpoints.length > 0 ? destination.endpoints : [{ host, port }];
  const endpoints = addresses.map((address) => endpointOf(address, options));
  let cursor = 0;
  const secured = (options?.tls?.mode ?? 'none') !== 'none';
  const upstream: Upstream = {
    id,
    host,
    requestMs: durationMs(options?.timeouts?.request, 0),
    closed: secured ? 'tls_handshake_failure' : options?.http2 === true ? 'no_destination' : undefined,
    next() {
      const endpoint = endpoints[cursor++ % endpoints.length];
      if (endpoint === undefined) throw new Error('a destination has at least one endpoint');
      return endpoint;
    },
  };
  return { upstream, pools: endpoints.map(({ pool }) => pool) };
}

function endpointOf({ host, port }: { host: string; port: number }, options: Destination['options']): UpstreamEndpoint {
  const name = `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
  const timeouts = options?.timeouts;
  const pool = new Pool(`http://${name}`, {
    connections: options?.maxConnsPerHost || null,
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: 1 << 20,
    connect: {
      timeout: durationMs(timeouts?.connect, 5_000),
      autoSelectFamilyAttemptTimeout: Math.max(10, durationMs(timeouts?.dualStackFallback, 300)),
    },
    headersTimeout: durationMs(timeouts?.responseHeader, 10_000),
    bodyTimeout: 0,
    keepAliveTimeout: durationMs(timeouts?.idleConnection, 90_000) || 600_000,
  });
  return { name, pool };
}
