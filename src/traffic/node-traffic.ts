// Traffic that one node knows of: that of its own proxy, and what the proxies report whose streams it holds. A proxy apart
// reports every ten seconds, so its part is that old at most; its last second is a tenth of its last ten.
import type { RecentSource } from '../model/recent-request.ts';
import { type CellData, TrafficCell } from '../model/traffic-cells.ts';
import type { ChainCount, ProxyTraffic, WindowCells } from '../model/traffic-report.ts';
import type { TrafficCounts } from '../model/traffic-windows.ts';
import type { Cancel, Clock } from '../util/clock.ts';
import { addLists, type Cells, SlidingSums, type Sums } from './sliding-sums.ts';
import { TrafficSampler, type TrafficSamplerOptions } from './traffic-sampler.ts';
import { cellOfWindow } from './traffic-totals.ts';

/** Question about the traffic of a node. */
export interface TrafficQuestion {
  /** Routes that are asked about beside the busiest. */
  readonly routes: readonly string[];
  readonly history: boolean;
  /** Routes and middlewares of their chains whose runs are asked about. Default: none. */
  readonly chains?: readonly ChainPlace[];
}

/** A middleware in the chain of a route. */
export type ChainPlace = readonly [routeId: string, middlewareId: string];

/** A route or destination: windows, and Unix milliseconds of its last request. */
export type SubjectData = readonly [id: string, cells: WindowCells, lastHitMs: number | null];

/** Answer of a node; plain, for it travels between nodes. */
export interface NodeTrafficData {
  /** Unix milliseconds from which on the node counts. */
  readonly sinceMs: number;
  /** Requests that one kept request stands for at the moment. */
  readonly oneIn: number;
  readonly total: WindowCells;
  readonly routes: readonly SubjectData[];
  readonly destinations: readonly SubjectData[];
  /** Pairs of a slot of `historySlotMs` and its traffic. */
  readonly history: readonly (readonly [slot: number, cell: CellData])[];
  /** In the order of the question; absent from a node of an earlier version. */
  readonly chains?: readonly ChainCount[];
}

export const historySlotMs = 5_000;
const historyMax = 180;
/** Subjects of each order that a node names. */
const namedMax = 100;
/** Subjects of proxies apart of each sort that are remembered. */
const keptMax = 200_000;

export interface NodeTrafficOptions extends Pick<TrafficSamplerOptions, 'recent' | 'counts'> {
  readonly clock: Clock;
}

export class NodeTraffic {
  readonly #recent: RecentSource;
  readonly #clock: Clock;
  readonly #own: TrafficSampler;
  readonly #apart = new SlidingSums();
  /** Last hits that proxies apart reported, by key. */
  readonly #hits = new Map<string, number>();
  /** Runs of chains that they reported, by key. */
  readonly #chains = new Map<string, ChainCount>();
  readonly #history = new Map<number, TrafficCell>();
  readonly #sinceMs: number;
  #cancel: Cancel = () => undefined;

  constructor({ recent, counts, clock }: NodeTrafficOptions) {
    this.#recent = recent;
    this.#clock = clock;
    this.#sinceMs = clock.nowMs();
    this.#own = new TrafficSampler({ recent, counts, clock, onSecond: (total) => this.#onSecond(total) });
  }

  start(): void {
    this.#own.start();
  }

  close(): void {
    this.#own.close();
    this.#cancel();
  }

  /** Takes the report of a proxy apart. */
  take(windows: readonly TrafficCounts[], traffic: ProxyTraffic | undefined): void {
    for (const window of windows) this.#apart.current.total.add(cellOfWindow(window));
    if (traffic === undefined) return;
    addLists(this.#apart.current, traffic);
    for (const [key, ms] of traffic.hits) keepLatest(this.#hits, key, Math.max(this.#hits.get(key) ?? 0, ms));
    for (const [key, passed, rejected] of traffic.chains) {
      const [before, refused] = this.#chains.get(key) ?? [0, 0];
      keepLatest(this.#chains, key, [before + passed, refused + rejected]);
    }
  }

  answer({ routes, history, chains = [] }: TrafficQuestion): NodeTrafficData {
    const [own, apart] = [this.#own.sums, this.#apart];
    const cells = (of: (sums: Sums) => TrafficCell | undefined): WindowCells =>
      together(own.windowsOf(of), apart.windowsOf(of));
    const subjects = (list: 'routes' | 'destinations', asked: readonly string[]): SubjectData[] => {
      const named = new Set([...asked, ...leading(own.minute[list]), ...leading(apart.minute[list])]);
      return [...named].map((id) => [
        id,
        cells((sums) => sums[list].get(id)),
        this.#lastHit(list === 'routes' ? id : `destination/${id}`),
      ]);
    };
    return {
      sinceMs: this.#sinceMs,
      oneIn: this.#recent.counts.oneIn,
      total: cells(({ total }) => total),
      routes: subjects('routes', routes),
      destinations: subjects('destinations', []),
      history: history ? [...this.#history].map(([slot, { data }]) => [slot, data] as const) : [],
      chains: chains.map((place) => this.#chainCount(place)),
    };
  }

  #chainCount([routeId, middlewareId]: ChainPlace): ChainCount {
    const own = this.#recent.chainCount(routeId, middlewareId);
    const apart = this.#chains.size === 0 ? undefined : this.#chains.get(this.#recent.chainKey(routeId, middlewareId));
    return apart === undefined ? own : [own[0] + apart[0], own[1] + apart[1]];
  }

  #lastHit(subject: string): number | null {
    const own = this.#recent.lastHit(subject) ?? 0;
    const apart = this.#hits.size === 0 ? 0 : (this.#hits.get(this.#recent.hitKey(subject)) ?? 0);
    return Math.max(own, apart) || null;
  }

  #onSecond(own: CellData): void {
    this.#apart.turn();
    const slot = Math.floor(this.#clock.nowMs() / historySlotMs);
    let cell = this.#history.get(slot);
    if (cell === undefined) {
      cell = new TrafficCell();
      this.#history.set(slot, cell);
      for (const each of this.#history.keys()) {
        if (this.#history.size <= historyMax) break;
        this.#history.delete(each);
      }
    }
    cell.add(own);
    cell.add(this.#apart.windowsOf(({ total }) => total)[1], 0.1);
  }
}

/** Sets a key as the latest of the map, which forgets the oldest beyond `keptMax`. */
function keepLatest<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= keptMax) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

/** Returns the windows of the own proxy and of those apart, whose last second is a tenth of their last ten. */
function together(own: WindowCells, apart: WindowCells): WindowCells {
  const sum = (data: CellData, other: CellData, share: number): CellData => {
    const cell = new TrafficCell();
    cell.add(data);
    cell.add(other, share);
    return cell.data;
  };
  return [sum(own[0], apart[1], 0.1), sum(own[1], apart[1], 1), sum(own[2], apart[2], 1)];
}

/** Returns the subjects with most requests, and those with most errors. */
function leading(cells: Cells): string[] {
  const by = (of: (cell: TrafficCell) => number): string[] =>
    [...cells]
      .filter(([, cell]) => of(cell) > 0)
      .sort(([, a], [, b]) => of(b) - of(a))
      .slice(0, namedMax)
      .map(([id]) => id);
  return [...by(({ requests }) => requests), ...by(({ serverErrors }) => serverErrors)];
}
