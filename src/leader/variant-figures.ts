// Figures for guards, from the reports of proxies (fleet.md §4, §7): windows of many proxies added up, durations
// computed from their buckets.

import type { VariantFigures } from '../expression/cel/roots.ts';
import { type TrafficWindow } from '../model/fleet-messages.ts';
import { latencyBuckets } from '../model/message-limits.ts';

const counted = ['requests', 'serverErrors', 'clientErrors', 'proxyErrors'] as const;
const firstBoundMs = 0.1;
const growth = 2 ** (1 / 4);

/** Upper bound of bucket `at` in milliseconds; the last bucket counts everything beyond, and gives its lower bound. */
const boundOf = (at: number): number => firstBoundMs * growth ** Math.min(at, latencyBuckets - 2);

/** Returns the figures of one variant over all windows. A percentile is the bound of its bucket: never too low. */
export function variantFigures(windows: readonly TrafficWindow[]): VariantFigures {
  const [requests = 0, serverErrors = 0, clientErrors = 0, proxyErrors = 0] = counted.map((name) =>
    windows.reduce((sum, window) => sum + window[name], 0),
  );
  const latency = Array.from({ length: latencyBuckets }, (_, at) =>
    windows.reduce((sum, window) => sum + (window.latency[at] ?? 0), 0),
  );
  const timed = latency.reduce((sum, count) => sum + count, 0);
  return {
    requests,
    serverErrors,
    clientErrors,
    proxyErrors,
    errorRate: requests === 0 ? 0 : (serverErrors + proxyErrors) / requests,
    p50Ms: percentile(latency, timed, 0.5),
    p95Ms: percentile(latency, timed, 0.95),
    p99Ms: percentile(latency, timed, 0.99),
    meanMs: timed === 0 ? 0 : latency.reduce((sum, count, at) => sum + count * middleOf(at), 0) / timed,
  };
}

function percentile(latency: readonly number[], timed: number, share: number): number {
  if (timed === 0) return 0;
  let left = Math.ceil(timed * share);
  const at = latency.findIndex((count) => {
    left -= count;
    return left <= 0;
  });
  return boundOf(at);
}

/** Between the bounds, as a ratio: buckets grow by one. */
const middleOf = (at: number): number => (at === 0 ? firstBoundMs / 2 : boundOf(at) / Math.sqrt(growth));
