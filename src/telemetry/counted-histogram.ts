// Histograms that were counted elsewhere, on another thread for instance, added to a registry.
import type { Histogram, Registry } from 'prom-client';

/** `counts[i]` values were at most `bounds[i]` and above the bound before; the last count has no bound. */
export interface CountedHistogram {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
}

type Labelled = CountedHistogram & { readonly labels: Readonly<Record<string, string>> };

export function addHistogram(registry: Registry, name: string, help: string, counted: CountedHistogram): void {
  addHistograms(registry, name, help, [{ ...counted, labels: {} }]);
}

/** One family with several series. */
export function addHistograms(registry: Registry, name: string, help: string, counted: readonly Labelled[]): void {
  const values = counted.flatMap((each) => valuesOf(name, each));
  const metric = { name, get: async () => ({ name, help, type: 'histogram', aggregator: 'sum', values }) };
  // All that a registry needs of a metric; its type names the four classes that it comes with.
  registry.registerMetric(metric as unknown as Histogram);
}

function valuesOf(name: string, { bounds, counts, sum, labels }: Labelled) {
  let count = 0;
  const buckets = counts.map((each, at) => {
    count += each;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: bounds[at] ?? '+Inf' }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
