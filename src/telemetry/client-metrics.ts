// Metrics of clients of the proxy: open connections, and those closed because of a limit. Made afresh for each
// scrape.
import { Counter, Gauge, Registry } from 'prom-client';

export interface ClientCounts {
  readonly connections: number;
  /** Bytes of request heads that are not whole. */
  readonly headBytes: number;
  readonly refusedHeads: number;
  /** Number of closed connections, by the limit that closed them. */
  readonly refused: Readonly<Record<string, number>>;
}

export function clientMetrics({ connections, headBytes, refusedHeads, refused }: ClientCounts): Registry {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: 'sluice_client_connections',
    help: 'Connections of clients that are open on all listeners.',
    registers,
  }).set(connections);
  const closed = new Counter({
    name: 'sluice_client_connections_refused_total',
    help: 'Connections that were closed at once, by the limit: listener, process or descriptors.',
    labelNames: ['limit'],
    registers,
  });
  for (const [limit, count] of Object.entries(refused)) closed.inc({ limit }, count);
  new Gauge({
    name: 'sluice_unfinished_head_bytes',
    help: 'Bytes held of request heads that are not whole.',
    registers,
  }).set(headBytes);
  new Counter({
    name: 'sluice_unfinished_heads_refused_total',
    help: 'Request heads that were given up because all together were too large.',
    registers,
  }).inc(refusedHeads);
  return registry;
}
