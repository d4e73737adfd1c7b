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
  return [since(({ requests }) => requests), since(clientErrorsOf), since(errorsOf), latency];
}

/** Returns a window of a report of a proxy as a cell. */
export function cellOfWindow(window: TrafficCounts): CellData {
  const pairs = window.latency.flatMap((count, bucket) => (count > 0 ? [bucket, count] : []));
  return [window.requests, clientErrorsOf(window), errorsOf(window), pairs];
}

/** Refusals of the proxy among them. */
const clientErrorsOf = ({ clientErrors, refusals = 0 }: TrafficCounts): number => clientErrors + refusals;

/**
 * Answers of 500 and above, and errors of the proxy itself that are no refusals. A reading beside running traffic may have a
 * refusal before it has its error.
 */
export const errorsOf = ({
  serverErrors,
  proxyErrors,
  refusals = 0,
}: Pick<TrafficCounts, 'serverErrors' | 'proxyErrors' | 'refusals'>): number =>
  serverErrors + Math.max(0, proxyErrors - refusals);
