// Destinations as a running proxy holds them. What a configuration does not change is kept together with its
// connections and cursors (architecture.md §6.15).
import type { ProxyErrorType } from '../../errors.ts';
import type { Destination } from '../../model/destination.ts';
import { durationMs } from '../duration.ts';
import { DestinationPool, type EndpointPool, type PoolOptions, type PoolTools } from './destination-pool.ts';

export interface Upstream {
  readonly id: string;
  readonly host: string;
  readonly pool: DestinationPool;
  /** Total budget in milliseconds; 0 = none. */
  readonly requestMs: number;
  readonly expectContinueMs: number;
  /** Set when nothing may be sent there: what it asks for is not built, and plaintext is no substitute. */
  readonly closed: ProxyErrorType | undefined;
  /** The endpoints in turn. */
  next(): EndpointPool;
}

interface Held {
  readonly content: string;
  readonly upstream: Upstream;
}

export class Upstreams {
  readonly #tools: PoolTools;
  #held = new Map<string, Held>();

  constructor(tools: PoolTools) {
    this.#tools = tools;
  }

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
      const stays = same?.content === content;
      this.#held.set(destination.id, stays ? same : { content, upstream: open(destination, this.#tools) });
      if (stays) former.delete(destination.id);
    }
    for (const { upstream } of former.values()) upstream.pool.close();
  }

  close(): void {
    for (const { upstream } of this.#held.values()) upstream.pool.close();
    this.#held.clear();
  }
}

function open(destination: Destination, tools: PoolTools): Upstream {
  const { id, host, port, endpoints, options } = destination;
  const addresses = endpoints !== undefined && endpoints.length > 0 ? endpoints : [{ host, port }];
  const pool = new DestinationPool(addresses, poolOptions(options), tools);
  const secured = (options?.tls?.mode ?? 'none') !== 'none';
  let cursor = 0;
  return {
    id,
    host,
    pool,
    requestMs: durationMs(options?.timeouts?.request, 0),
    expectContinueMs: durationMs(options?.timeouts?.expectContinue, 1_000),
    closed: secured ? 'tls_handshake_failure' : options?.http2 === true ? 'no_destination' : undefined,
    next() {
      cursor = cursor + 1 < pool.endpoints.length ? cursor + 1 : 0;
      const endpoint = pool.endpoints[cursor];
      if (endpoint === undefined) throw new Error('a destination has at least one endpoint');
      return endpoint;
    },
  };
}

function poolOptions(options: Destination['options']): PoolOptions {
  const timeouts = options?.timeouts;
  return {
    connectionsMax: options?.maxConnsPerHost ?? 0,
    waitingMax: options?.circuitBreaker?.maxPendingRequests || 1_024,
    connectMs: durationMs(timeouts?.connect, 5_000),
    dualStackFallbackMs: durationMs(timeouts?.dualStackFallback, 300),
    responseHeaderMs: durationMs(timeouts?.responseHeader, 10_000),
    idleMs: durationMs(timeouts?.idleConnection, 90_000),
  };
}
