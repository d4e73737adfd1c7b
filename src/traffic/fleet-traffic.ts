// Traffic of the whole fleet from any node: each node answers for its own proxy and those that follow it, and cells add up.
import type {
  ChainStats,
  RolloutTraffic,
  Stats,
  SubjectStats,
  TrafficStep,
  VariantTraffic,
  Windows,
} from '../model/answers/stats-answers.ts';
import { type CellData, TrafficCell } from '../model/traffic-cells.ts';
import {
  type ChainCount,
  chainCountOf,
  statsWindows,
  type WindowCells,
  windowCellsOf,
} from '../model/traffic-report.ts';
import type { TrafficCounts } from '../model/traffic-windows.ts';
import type { Clock } from '../util/clock.ts';
import {
  type ChainPlace,
  historySlotMs,
  type NodeTraffic,
  type NodeTrafficData,
  type SubjectData,
  type TrafficQuestion,
} from './node-traffic.ts';
import type { ChainLink } from './route-chain.ts';
import { cellOfWindow } from './traffic-totals.ts';

/** Order of the subjects that are named. */
export const statsOrders = ['requests', 'errors', 'latency'] as const;
export type StatsOrder = (typeof statsOrders)[number];

export interface StatsQuestion {
  readonly sort: StatsOrder;
  /** Undefined: the first fifty of the order. */
  readonly routes: readonly string[] | undefined;
  readonly history: boolean;
  /** Adds the middlewares of the routes that are named. */
  readonly chain: boolean;
}

/** Reports of the nodes on one rollout, by what they count. */
interface RolloutCounts {
  readonly id: string;
  readonly candidate: readonly TrafficCounts[];
  readonly stable: readonly TrafficCounts[];
}

interface TrafficPeer {
  readonly nodeId: string;
  ask(question: { readonly op: 'traffic' } & Required<TrafficQuestion>, withinMs: number): Promise<unknown>;
}

export interface FleetTrafficOptions {
  readonly own: Pick<NodeTraffic, 'answer'>;
  readonly peers: () => Promise<readonly TrafficPeer[]>;
  readonly clock: Clock;
  /** Returns the counts of the rollout under way. Default: there is never one. */
  readonly rollout?: () => RolloutCounts | undefined;
  /** Returns the name of a route or destination; undefined for one that is not staged. */
  readonly nameOf: (kind: 'routes' | 'destinations' | 'middlewares', id: string) => string | undefined;
  /** Returns the middlewares of an active route. Default: it has none. */
  readonly chainOf?: (routeId: string) => readonly ChainLink[];
}

const askMs = 1_000;
const namedMax = 50;

export class FleetTraffic {
  readonly #options: FleetTrafficOptions;

  constructor(options: FleetTrafficOptions) {
    this.#options = options;
  }

  async stats({ sort, routes, history, chain }: StatsQuestion): Promise<Stats> {
    const { own, peers, clock, chainOf } = this.#options;
    const links = chain ? (routes ?? []).flatMap((id) => linksOf(id, chainOf?.(id) ?? [])) : [];
    const chains = links.map(({ routeId, id }): ChainPlace => [routeId, id]);
    const question = { routes: routes ?? [], history, chains };
    const unreachable: string[] = [];
    const others = await Promise.all(
      (await peers()).map(async (peer) => {
        const answer = await peer.ask({ op: 'traffic', ...question }, askMs);
        if (isObject(answer) && 'sinceMs' in answer) return answer as unknown as NodeTrafficData;
        unreachable.push(peer.nodeId);
        return undefined;
      }),
    );
    const all = [own.answer(question), ...others.filter((each) => each !== undefined)];
    const rollout = this.#options.rollout?.();
    const runs = links.map((link, at) => ({
      ...link,
      counts: all.map((each) => chainCountOf(each.chains?.[at])),
    }));
    const order = orderOf(sort);
    const chosen = mergedSubjects(all.map((each) => each.routes));
    const named =
      routes === undefined
        ? [...chosen.values()].sort(order).slice(0, namedMax)
        : routes.map((id) => chosen.get(id) ?? emptySubject(id));
    const destinations = [...mergedSubjects(all.map((each) => each.destinations)).values()].sort(order);
    return {
      at: new Date(clock.nowMs()).toISOString(),
      since: new Date(Math.max(...all.map(({ sinceMs }) => sinceMs))).toISOString(),
      unreachableNodes: unreachable.sort(),
      oneIn: Math.max(...all.map(({ oneIn }) => oneIn)),
      total: figuresOf(sumOf(all.map(({ total }) => windowCellsOf(total)))),
      routes: named.map((subject) => ({
        ...this.#shown('routes', subject),
        ...(chain &&
          routes !== undefined && { chain: this.#shownChain(runs.filter(({ routeId }) => routeId === subject.id)) }),
      })),
      destinations: destinations.slice(0, namedMax).map((subject) => this.#shown('destinations', subject)),
      ...(rollout !== undefined && { rollout: rolloutTraffic(rollout) }),
      ...(history && { history: historyOf(all) }),
    };
  }

  #shown(kind: 'routes' | 'destinations', { id, cells, lastHitMs }: Subject): SubjectStats {
    return {
      id,
      name: this.#options.nameOf(kind, id) ?? null,
      lastHit: lastHitMs === 0 ? null : new Date(lastHitMs).toISOString(),
      windows: figuresOf(cells),
    };
  }

  #shownChain(runs: readonly ChainRuns[]): ChainStats[] {
    return runs.map(({ id, type, counts }) => ({
      middlewareId: id,
      name: this.#options.nameOf('middlewares', id) ?? null,
      type,
      passed: counts.reduce((sum, [passed]) => sum + passed, 0),
      rejected: counts.reduce((sum, [, rejected]) => sum + rejected, 0),
    }));
  }
}

interface PlacedLink extends ChainLink {
  readonly routeId: string;
}

/** A link with its runs on each node that answers. */
interface ChainRuns extends PlacedLink {
  readonly counts: readonly ChainCount[];
}

const linksOf = (routeId: string, chain: readonly ChainLink[]): PlacedLink[] =>
  chain.map((link) => ({ ...link, routeId }));

const rolloutTraffic = ({ id, candidate, stable }: RolloutCounts): RolloutTraffic => ({
  id,
  candidate: variantTraffic(candidate),
  stable: variantTraffic(stable),
});

function variantTraffic(counts: readonly TrafficCounts[]): VariantTraffic {
  const cell = new TrafficCell();
  for (const each of counts) cell.add(cellOfWindow(each));
  const { requestsPerSecond: requests, ...figures } = cell.figures(1);
  return { requests, ...figures };
}

interface Subject {
  readonly id: string;
  readonly cells: readonly [TrafficCell, TrafficCell, TrafficCell];
  lastHitMs: number;
}

const emptySubject = (id: string): Subject => ({
  id,
  cells: [new TrafficCell(), new TrafficCell(), new TrafficCell()],
  lastHitMs: 0,
});

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function mergedSubjects(lists: readonly (readonly SubjectData[])[]): Map<string, Subject> {
  const merged = new Map<string, Subject>();
  for (const [id, cells, lastHitMs] of lists.flat()) {
    const subject = merged.get(id) ?? emptySubject(id);
    merged.set(id, subject);
    for (const [at, cell] of windowCellsOf(cells).entries()) subject.cells[at]?.add(cell);
    subject.lastHitMs = Math.max(subject.lastHitMs, typeof lastHitMs === 'number' ? lastHitMs : 0);
  }
  return merged;
}

function sumOf(list: readonly WindowCells[]): Subject['cells'] {
  const { cells } = emptySubject('');
  for (const windows of list) for (const [at, cell] of windows.entries()) cells[at]?.add(cell);
  return cells;
}

const figuresOf = (cells: Subject['cells']): Windows =>
  Object.fromEntries(statsWindows.map((seconds, at) => [`${seconds}s`, cells[at]?.figures(seconds)])) as Windows;

function orderOf(sort: StatsOrder): (a: Subject, b: Subject) => number {
  const key = ({ cells: [, , sixty] }: Subject): number => {
    if (sort === 'requests') return sixty.requests;
    return sort === 'errors' ? sixty.serverErrors : (sixty.figures(60).p99Ms ?? 0);
  };
  return (a, b) => key(b) - key(a) || b.cells[2].requests - a.cells[2].requests || (a.id < b.id ? -1 : 1);
}

function historyOf(all: readonly NodeTrafficData[]): TrafficStep[] {
  const slots = new Map<number, TrafficCell>();
  for (const { history } of all) {
    for (const [slot, data] of history) {
      const cell = slots.get(slot) ?? new TrafficCell();
      slots.set(slot, cell);
      cell.add(data as CellData);
    }
  }
  return [...slots]
    .sort(([a], [b]) => a - b)
    .map(([slot, cell]) => ({
      at: new Date(slot * historySlotMs).toISOString(),
      ...cell.figures(historySlotMs / 1_000),
    }));
}
