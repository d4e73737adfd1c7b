// Metrics of a proxy of its own about itself: the process, and its stream (fleet.md §2). What it serves is counted on
// its listeners.

import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { type ClientCounts, clientMetrics } from '../telemetry/client-metrics.ts';
import { type LeaseFigures, leaseMetrics } from '../telemetry/lease-metrics.ts';
import { measureLoopLag } from '../telemetry/loop-lag.ts';
import type { Exposition } from '../telemetry/metrics.ts';
import { type Surroundings, surroundingsMetrics } from '../telemetry/surroundings-metrics.ts';
import { threadMetrics } from '../telemetry/thread-metrics.ts';
import type { NamedThread } from '../telemetry/thread-vitals.ts';
import { type UpstreamFigures, upstreamMetrics } from '../telemetry/upstream-metrics.ts';
import type { Clock } from '../util/clock.ts';
import type { CopyKeeper } from './cache-writer.ts';
import type { EventCounts } from './event-counts.ts';
import type { RemoteSource } from './remote-source.ts';

interface Parts {
  readonly source: Pick<RemoteSource, 'installed' | 'stream'>;
  readonly keeper: Pick<CopyKeeper, 'ageSeconds'>;
  readonly counts: EventCounts;
  /** Threads of the whole process. */
  readonly threads: () => readonly NamedThread[];
  readonly upstreams: () => UpstreamFigures;
  readonly clients: () => ClientCounts;
  readonly leases: () => LeaseFigures;
  readonly surroundings: Surroundings;
  readonly clock: Clock;
}

/** Measures from now on; the function gives what there is to show. */
export function proxyMetrics({
  source,
  keeper,
  counts,
  threads,
  upstreams,
  clients,
  leases,
  surroundings,
  clock,
}: Parts): () => Promise<Exposition> {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  measureLoopLag({ registry }, clock);
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  };
  gauge('sluice_stream_connected', 'Whether a control plane is connected.', () => (source.stream ? 1 : 0));
  gauge('sluice_installed_index', 'Log index of the configuration in force; 0 without one.', () => {
    return source.installed?.place?.index ?? 0;
  });
  gauge('sluice_serves_copy', 'Whether the last good copy is in force.', () => {
    return source.installed?.from === 'copy' ? 1 : 0;
  });
  gauge('sluice_copy_age_seconds', 'Age of the copy that the process began with; 0 without one.', () => {
    return keeper.ageSeconds ?? 0;
  });
  new Counter({
    name: 'sluice_stream_events_total',
    help: 'Events that came on the stream.',
    labelNames: ['event'],
    registers,
    collect() {
      this.reset();
      for (const [event, count] of counts.entries()) this.inc({ event }, count);
    },
  });
  return async () => {
    const all = threadMetrics(threads());
    const around = await surroundingsMetrics(surroundings);
    const others = [all, upstreamMetrics(upstreams()), clientMetrics(clients()), leaseMetrics(leases()), around];
    const texts = await Promise.all([registry, ...others].map((each) => each.metrics()));
    return { contentType: registry.contentType, text: texts.join('\n') };
  };
}
