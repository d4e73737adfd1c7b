// Metrics that a listener collects, with the defaults applied (contract.md §2.2).
import { canonicalLiteral } from '../../model/canonical-path.ts';
import { listenerDefaults } from '../../model/defaults.ts';
import type { Listener } from '../../model/listener.ts';
import type { Collected } from './families.ts';

/** Undefined when the listener has no metrics. */
export function collectedOf({ metrics, protocol = listenerDefaults.protocol }: Listener): Collected | undefined {
  if (metrics === undefined) return undefined;
  const { path, collect, histograms } = listenerDefaults.metrics;
  return {
    path: canonicalLiteral(metrics.path ?? path) ?? path,
    ...collect,
    ...definedOf(metrics.collect ?? {}),
    protocol,
    buckets: metrics.histograms?.durationBuckets ?? histograms.durationBuckets,
  };
}

const definedOf = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;

export const sameBuckets = (a: Collected, b: Collected): boolean =>
  a.buckets.length === b.buckets.length && a.buckets.every((bound, i) => bound === b.buckets[i]);
