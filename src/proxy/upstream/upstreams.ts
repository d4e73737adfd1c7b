// Destinations as one generation of a running proxy holds them. What a configuration does not change is taken over
// from the generation before, connections and cursors included (architecture.md §6.15).
import type { ProxyErrorType } from '../../errors.ts';
import type { Destination } from '../../model/destination.ts';
import { durationMs } from '../duration.ts';
import { UpstreamSecurity } from '../tls/upstream-security.ts';
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
  readonly #held = new Map<string, Held>();

  /** `former` is the generation in force; it goes on untouched until it is retired. */
  constructor(destinations: readonly Destination[], tools: PoolTools, former?: Upstreams) {
    for (const destination of destinations) {
      const content = JSON.stringify(destination);
      const same = former?.held(destination.id, content);
      this.#held.set(destination.id, same ?? { content, upstream: open(destination, tools) });
    }
  }

  get(id: string): Upstream | undefined {
    return this.#held.get(id)?.upstream;
  }

  /** What is held under this id, if its content is the same. */
  held(id: string, content: string): Held | undefined {
    const held = this.#held.get(id);
    return held?.content === content ? held : undefined;
  }

  /** Ends what the next generation has not taken over: idle connections now, busy ones with their exchange. */
  retire(next?: Upstreams): void {
    for (const [id, held] of this.#held) if (next?.held(id, held.content) !== held) held.upstream.pool.close();
  }
}

function open(destination: Destination, tools: PoolTools): Upstream {
  const { id, host, port, endpoints, options } = destination;
  const addresses = endpoints !== undefined && endpoints.length > 0 ? endpoints : [{ host, port }];
  const pool = new DestinationPool(id, addresses, poolOptions(destination), tools);
  let cursor = 0;
  return {
    id,
    host,
    pool,
    requestMs: durationMs(options?.timeouts?.request, 0),
    expectContinueMs: durationMs(options?.timeouts?.expectContinue, 1_000),
    closed: options?.http2 === true ? 'no_destination' : undefined,
    next() {
      cursor = cursor + 1 < pool.endpoints.length ? cursor + 1 : 0;
      const endpoint = pool.endpoints[cursor];
      if (endpoint === undefined) throw new Error('a destination has at least one endpoint');
      return endpoint;
    },
  };
}

function poolOptions(destination: Destination): PoolOptions {
  const { options } = destination;
  const timeouts = options?.timeouts;
  return {
    connectionsMax: options?.maxConnsPerHost ?? 0,
    waitingMax: options?.circuitBreaker?.maxPendingRequests || 1_024,
    connectMs: durationMs(timeouts?.connect, 5_000),
    dualStackFallbackMs: durationMs(timeouts?.dualStackFallback, 300),
    security: UpstreamSecurity.of(destination),
    tlsHandshakeMs: durationMs(timeouts?.tlsHandshake, 5_000),
    responseHeaderMs: durationMs(timeouts?.responseHeader, 10_000),
    idleMs: durationMs(timeouts?.idleConnection, 90_000),
  };
}
