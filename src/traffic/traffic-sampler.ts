// Traffic of this process by route and destination over the last minute, from the requests that its log keeps: all while
// there are few, a random share when there are many. A look takes a bounded number of them, so that the cost has a bound
// that neither the traffic nor the number of routes moves.
import type { RecentSource } from '../model/recent-request.ts';
import { type CellData, latencyBucketOf } from '../model/traffic-cells.ts';
import { type ChainCount, type PendingTraffic, type ProxyTraffic, trafficLimits } from '../model/traffic-report.ts';
import type { VariantCounts } from '../model/traffic-windows.ts';
import type { Cancel, Clock } from '../util/clock.ts';
import { type Cells, cellAt, newSums, SlidingSums, type Sums } from './sliding-sums.ts';
import { totalSince } from './traffic-totals.ts';

const lookEveryMs = 250;
/** Requests that one look reads, at most. */
const samplesMax = 60;
/** Seconds after which a pause of the process is no traffic to be made up for. */
const pauseMsMax = 60_000;

export interface TrafficSamplerOptions {
  readonly recent: RecentSource;
  /** Counts of all traffic since the start, exact. */
  readonly counts: () => VariantCounts;
  readonly clock: Clock;
  /** Reports to a control plane are made from it. Default: none are. */
  readonly isReported?: boolean;
  /** Told the traffic of each second that is over. Default: nothing. */
  readonly onSecond?: (total: CellData) => void;
}

/** Chains with runs that are not delivered yet. */
interface NewChains {
  readonly fresh: ProxyTraffic['chains'];
  /** Counts that are told with that. */
  readonly counts: readonly (readonly [key: string, now: ChainCount])[];
  /** Place at which the report after it begins. */
  readonly next: number;
}

export class TrafficSampler {
  readonly sums = new SlidingSums();
  readonly #options: TrafficSamplerOptions;
  /** Since the last report to a control plane; undefined where none is made. */
  #unreported: Sums | undefined;
  #reportedHitMs = 0;
  /** Runs of chains that were reported, by key. */
  readonly #reportedChains = new Map<string, ChainCount>();
  /** Place among the counts at which the next report begins: no chain waits for those that are always busy. */
  #nextChain = 0;
  #next: number;
  #before: VariantCounts;
  #secondStartedMs: number;
  #cancel: Cancel = () => undefined;

  constructor(options: TrafficSamplerOptions) {
    this.#options = options;
    this.#unreported = options.isReported === true ? newSums() : undefined;
    this.#next = options.recent.end;
    this.#before = options.counts();
    this.#secondStartedMs = options.clock.monotonicMs();
  }

  start(): void {
    this.#cancel = this.#options.clock.after(lookEveryMs, () => {
      this.look();
      this.start();
    });
  }

  close(): void {
    this.#cancel();
  }

  /** Returns what was sampled since the last report, the busiest first; hits and chains since one was delivered. */
  report(): PendingTraffic {
    const { routes, destinations } = this.#unreported ?? newSums();
    this.#unreported = newSums();
    const hits = this.#options.recent.hitsSince(this.#reportedHitMs, trafficLimits.hits);
    const { fresh, counts, next } = this.#newChains();
    const traffic = {
      routes: busiest(routes, trafficLimits.routes),
      destinations: busiest(destinations, trafficLimits.destinations),
      hits,
      chains: fresh,
    };
    const delivered = (): void => {
      this.#reportedHitMs = hits.at(-1)?.[1] ?? this.#reportedHitMs;
      for (const [key, now] of counts) this.#reportedChains.set(key, now);
      this.#nextChain = next;
    };
    return { traffic, delivered };
  }

  /** Returns the runs of chains since they were delivered last; what does not fit comes with the next report. */
  #newChains(): NewChains {
    const fresh: ProxyTraffic['chains'][number][] = [];
    const counts: (readonly [key: string, now: ChainCount])[] = [];
    const known = this.#options.recent.chainCounts();
    const all = [...known];
    if (this.#reportedChains.size > all.length)
      for (const key of this.#reportedChains.keys()) if (!known.has(key)) this.#reportedChains.delete(key);
    let next = this.#nextChain < all.length ? this.#nextChain : 0;
    for (let looked = 0; looked < all.length && fresh.length < trafficLimits.chains; looked++) {
      const [key, now] = all[next] as readonly [string, ChainCount];
      next = (next + 1) % all.length;
      const reported = this.#reportedChains.get(key) ?? [0, 0];
      // The counts of a chain that was away begin anew.
      const [passed, rejected] = now[0] < reported[0] || now[1] < reported[1] ? [0, 0] : reported;
      if (now[0] === passed && now[1] === rejected) continue;
      fresh.push([key, now[0] - passed, now[1] - rejected]);
      counts.push([key, now]);
    }
    return { fresh, counts, next };
  }

  look(): void {
    this.#sample();
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#secondStartedMs > pauseMsMax) this.#secondStartedMs = nowMs - 1_000;
    while (nowMs - this.#secondStartedMs >= 1_000) {
      this.#secondStartedMs += 1_000;
      this.#turn();
    }
  }

  #sample(): void {
    const { recent } = this.#options;
    const { end, capacity } = recent;
    const from = Math.max(this.#next, end - capacity);
    const total = end - this.#next;
    this.#next = end;
    if (total <= 0) return;
    const step = Math.max(1, Math.ceil((end - from) / samplesMax));
    // Those that were passed over, or overwritten before they were seen, are like those that were read.
    const weight = total / Math.ceil((end - from) / step);
    for (let number = from; number < end; number += step) {
      const sample = recent.sample(number);
      if (sample === undefined) continue;
      const { routeId, destination, status, isProxyError, durationMs, oneIn } = sample;
      const bucket = latencyBucketOf(durationMs);
      const count = ({ routes, destinations }: Sums): void => {
        if (routeId !== '') cellAt(routes, routeId).count(status, isProxyError, bucket, oneIn * weight);
        if (destination !== '') cellAt(destinations, destination).count(status, isProxyError, bucket, oneIn * weight);
      };
      count(this.sums.current);
      if (this.#unreported !== undefined) count(this.#unreported);
    }
  }

  /** Ends the second under way. */
  #turn(): void {
    const now = this.#options.counts();
    const total = totalSince(now, this.#before);
    this.#before = now;
    this.sums.current.total.add(total);
    this.#options.onSecond?.(total);
    this.sums.turn();
    if ((this.#unreported?.routes.size ?? 0) > unreportedMax) this.#unreported = newSums();
  }
}

/** Subjects that wait for a report; beyond it the oldest are dropped, for no control plane takes reports. */
const unreportedMax = 20_000;

/** Returns the cells of the subjects with most requests. */
function busiest(cells: Cells, most: number): (readonly [id: string, cell: CellData])[] {
  return [...cells]
    .sort(([, a], [, b]) => b.requests - a.requests)
    .slice(0, most)
    .map(([id, { data }]) => [id, data] as const);
}
