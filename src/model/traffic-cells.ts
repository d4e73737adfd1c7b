// Counts of requests of one subject: a route, a destination, or all. They add up, over threads, proxies and nodes, and give
// rates and percentiles in the end. Plain arrays travel between processes.
import type { CellFigures } from './answers/stats-answers.ts';
import { latencyBuckets } from './message-limits.ts';

/**
 * `[requests, clientErrors, serverErrors, [bucket, count, …]]`; server errors include errors of the proxy itself, but for
 * refusals, answers of 400 to 499 such as `no_route`, which are client errors.
 */
export type CellData = readonly [
  requests: number,
  clientErrors: number,
  serverErrors: number,
  latency: readonly number[],
];

/** Upper bounds of the buckets in milliseconds, each 2^(1/4) wider than the one before. */
const boundOf = (bucket: number): number => 0.1 * 2 ** (bucket / 4);

/** Place of a latency among the buckets. */
export const latencyBucketOf = (ms: number): number =>
  ms <= 0.1 ? 0 : Math.min(latencyBuckets - 1, Math.ceil(4 * Math.log2(ms / 0.1)));

/** Returns whether the request is at fault, as the status says. */
export const isRefusal = (status: number): boolean => status >= 400 && status < 500;

export class TrafficCell {
  requests = 0;
  clientErrors = 0;
  serverErrors = 0;
  /** Pairs of bucket and count, in no order: few buckets of a subject are in use. */
  readonly #latency: number[] = [];

  count(status: number, isProxyError: boolean, bucket: number, weight: number): void {
    this.requests += weight;
    if (isRefusal(status)) this.clientErrors += weight;
    else if (isProxyError || status >= 500) this.serverErrors += weight;
    this.#observe(bucket, weight);
  }

  /** @param factor −1 takes away what was added before. */
  add([requests, clientErrors, serverErrors, latency]: CellData, factor = 1): void {
    this.requests += factor * requests;
    this.clientErrors += factor * clientErrors;
    this.serverErrors += factor * serverErrors;
    for (let at = 0; at + 1 < latency.length; at += 2) this.#observe(latency[at] ?? 0, factor * (latency[at + 1] ?? 0));
  }

  get data(): CellData {
    return [this.requests, this.clientErrors, this.serverErrors, this.#latency];
  }

  figures(seconds: number): CellFigures {
    const { requests } = this;
    const ratio = (part: number): number => (requests <= 0 ? 0 : Math.min(1, Math.max(0, part / requests)));
    const pairs: [bucket: number, count: number][] = [];
    for (let at = 0; at < this.#latency.length; at += 2)
      pairs.push([this.#latency[at] ?? 0, this.#latency[at + 1] ?? 0]);
    pairs.sort(([a], [b]) => a - b);
    return {
      requestsPerSecond: Math.max(0, requests) / seconds,
      errorRate: ratio(this.serverErrors),
      clientErrorRate: ratio(this.clientErrors),
      p50Ms: percentileOf(pairs, 0.5),
      p95Ms: percentileOf(pairs, 0.95),
      p99Ms: percentileOf(pairs, 0.99),
    };
  }

  #observe(bucket: number, weight: number): void {
    const latency = this.#latency;
    for (let at = 0; at < latency.length; at += 2) {
      if (latency[at] !== bucket) continue;
      latency[at + 1] = (latency[at + 1] ?? 0) + weight;
      return;
    }
    latency.push(bucket, weight);
  }
}

function percentileOf(ascending: readonly (readonly [bucket: number, count: number])[], share: number): number | null {
  const total = ascending.reduce((sum, [, count]) => sum + Math.max(0, count), 0);
  if (total <= 0) return null;
  let before = 0;
  for (const [bucket, count] of ascending) {
    before += Math.max(0, count);
    if (before >= share * total) return Number(boundOf(bucket).toPrecision(3));
  }
  return null;
}

/** Adds cells by subject. */
export function addCell(cells: Map<string, TrafficCell>, subject: string, data: CellData, factor = 1): void {
  let cell = cells.get(subject);
  if (cell === undefined) {
    cell = new TrafficCell();
    cells.set(subject, cell);
  }
  cell.add(data, factor);
  // Each sample stands for one request at least; less is what sums of fractions leave behind.
  if (factor < 0 && cell.requests < 0.5) cells.delete(subject);
}
