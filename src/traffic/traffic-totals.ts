// Totals of the traffic, from the exact counts that every process keeps.

import type { CellData } from '../model/traffic-cells.ts';
import type { TrafficCounts, VariantCounts } from '../model/traffic-windows.ts';

/** Returns the traffic between two readings of the counts, stable configuration and candidate together. */
export function totalSince(now: VariantCounts, before: VariantCounts): CellData {
  const since = (of: (counts: TrafficCounts) => number): number =>
    Math.max(0, of(now.stable) + of(now.candidate) - of(before.stable) - of(before.candidate));
  const latency: number[] = [];
  const buckets = Math.max(now.stable.latency.length, now.candidate.latency.length);
  for (let bucket = 0; bucket < buckets; bucket++) {
    const count = since(({ latency: each }) => each[bucket] ?? 0);
    if (count > 0) latency.push(bucket, count);
  }
  return [
    since(({ requests }) => requests),
    since(({ clientErrors }) => clientErrors),
    since(({ serverErrors, proxyErrors }) => serverErrors + proxyErrors),
    latency,
  ];
}

/** Returns a window of a report of a proxy as a cell. */
export function cellOfWindow({ requests, clientErrors, serverErrors, proxyErrors, latency }: TrafficCounts): CellData {
  const pairs = latency.flatMap((count, bucket) => (count > 0 ? [bucket, count] : []));
  return [requests, clientErrors, serverErrors + proxyErrors, pairs];
}
