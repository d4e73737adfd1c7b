// Metrics of the API of this node: its answers, its streams, and the state behind them.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Streams of one kind. */
interface StreamCounts {
  /** Number of open streams. */
  readonly open: number;
  /** Events that were written, and those dropped instead, since the start. */
  readonly events: number;
  readonly dropped: number;
}

export interface ApiMetricsSources {
  /** By kind. */
  readonly streams: () => Readonly<Record<string, StreamCounts>>;
  /** Entities in the state, by kind. */
  readonly entities: () => Readonly<Record<string, number>>;
  /** Log index of the configuration that the feed has published last; 0 for none. */
  readonly published: () => number;
  readonly recent: () => { readonly seen: number; readonly kept: number };
}

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export class ApiMetrics {
  readonly #requests: Counter<'operation' | 'status'>;
  readonly #durations: Histogram<'operation'>;

  constructor(registry: Registry, { streams, entities, published, recent }: ApiMetricsSources) {
    const registers = [registry];
    this.#requests = new Counter({
      name: 'sluice_api_requests_total',
      help: 'Requests that the API answered, by operation of the OpenAPI document; none for what is no operation.',
      labelNames: ['operation', 'status'],
      registers,
    });
    this.#durations = new Histogram({
      name: 'sluice_api_request_duration_seconds',
      help: 'Time that the API took to answer.',
      labelNames: ['operation'],
      buckets,
      registers,
    });
    const byStream = (name: string, help: string, of: (counts: StreamCounts) => number, isGauge = false): void => {
      const collect = function (this: Gauge<'stream'> | Counter<'stream'>): void {
        this.reset();
        for (const [stream, counts] of Object.entries(streams())) this.inc({ stream }, of(counts));
      };
      const configuration = { name, help, labelNames: ['stream'] as const, registers, collect };
      if (isGauge) new Gauge(configuration);
      else new Counter(configuration);
    };
    byStream('sluice_api_streams', 'Event streams that are open.', ({ open }) => open, true);
    byStream('sluice_api_stream_events_total', 'Events that were written to streams.', ({ events }) => events);
    byStream(
      'sluice_api_stream_dropped_total',
      'Requests that readers of their stream did not get to see.',
      ({ dropped }) => dropped,
    );
    new Gauge({
      name: 'sluice_store_entities',
      help: 'Resources in the state of this node.',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const [kind, count] of Object.entries(entities())) this.set({ kind }, count);
      },
    });
    new Gauge({
      name: 'sluice_feed_index',
      help: 'Log index of the activation that this node has published to its proxies last; 0 without one.',
      registers,
      collect() {
        this.set(published());
      },
    });
    for (const what of ['seen', 'kept'] as const) {
      new Counter({
        name: `sluice_recent_requests_${what}_total`,
        help:
          what === 'seen'
            ? 'Requests that the proxy of this process has ended.'
            : 'Those of them that were written to the list of recent requests.',
        registers,
        collect() {
          this.reset();
          this.inc(recent()[what]);
        },
      });
    }
  }

  answered(operation: string, status: number, ms: number): void {
    this.#requests.inc({ operation, status: String(status) });
    this.#durations.observe({ operation }, ms / 1000);
  }
}
