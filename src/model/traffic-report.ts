// Traffic by route and destination as processes tell it: a proxy to its node with each report, a node to another that was
// asked. Bounded: the busiest subjects stand for themselves, the rest is in the total.
import type { CellData } from './traffic-cells.ts';

/** Windows in seconds. */
export const statsWindows = [1, 10, 60] as const;

/** Cells of one subject, one for each window. */
export type WindowCells = readonly [CellData, CellData, CellData];

/** Runs of a middleware in the chain of a route: those that let the exchange go on, and those that refused it. */
export type ChainCount = readonly [passed: number, rejected: number];

/** Traffic of a proxy since its last report. */
export interface ProxyTraffic {
  readonly routes: readonly (readonly [id: string, cell: CellData])[];
  readonly destinations: readonly (readonly [id: string, cell: CellData])[];
  /** Routes that won a request since the last report: key of the route, Unix milliseconds of the last one. */
  readonly hits: readonly (readonly [key: string, ms: number])[];
  /** Runs of middlewares since the last report: key of the route and the middleware, and the counts. */
  readonly chains: readonly (readonly [key: string, ...ChainCount])[];
}

/** Traffic as the next report of a proxy tells it. */
export interface PendingTraffic {
  readonly traffic: ProxyTraffic;
  /** Confirms delivery: hits and runs of chains are not sent again. Without it the next report includes them as well. */
  delivered(): void;
}

export const trafficLimits = { routes: 50, destinations: 20, hits: 1_000, chains: 1_000, text: 128 } as const;

const empty: CellData = [0, 0, 0, []];
const noCells: WindowCells = [empty, empty, empty];

/** Returns what of a value from the network is a cell; undefined for anything else. */
function cellOf(value: unknown): CellData | undefined {
  if (!Array.isArray(value) || value.length !== 4) return undefined;
  const [requests, clientErrors, serverErrors, latency] = value as unknown[];
  if (![requests, clientErrors, serverErrors].every(isCount) || !Array.isArray(latency)) return undefined;
  if (latency.length > 160 || latency.length % 2 !== 0 || !latency.every(isCount)) return undefined;
  return value as unknown as CellData;
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;
const isShort = (value: unknown): value is string => typeof value === 'string' && value.length <= trafficLimits.text;

/** Reads the traffic of a report; what is malformed is left out, as what an older proxy does not send. */
export function proxyTrafficOf(value: unknown): ProxyTraffic {
  const { routes, destinations, hits, chains } = Object(value) as Record<string, unknown>;
  return {
    routes: cellsOf(routes, trafficLimits.routes),
    destinations: cellsOf(destinations, trafficLimits.destinations),
    hits: listOf(hits, trafficLimits.hits).flatMap((each) => {
      const [key, ms] = Array.isArray(each) ? (each as unknown[]) : [];
      return isShort(key) && isCount(ms) ? [[key, ms] as const] : [];
    }),
    chains: listOf(chains, trafficLimits.chains).flatMap((each) => {
      const [key, passed, rejected] = Array.isArray(each) ? (each as unknown[]) : [];
      return isShort(key) && isCount(passed) && isCount(rejected) ? [[key, passed, rejected] as const] : [];
    }),
  };
}

const cellsOf = (value: unknown, most: number): (readonly [string, CellData])[] =>
  listOf(value, most).flatMap((each) => {
    const [id, data] = Array.isArray(each) ? (each as unknown[]) : [];
    const cell = cellOf(data);
    return isShort(id) && cell !== undefined ? [[id, cell] as const] : [];
  });

const listOf = (value: unknown, most: number): readonly unknown[] => (Array.isArray(value) ? value.slice(0, most) : []);

/** Returns the runs that another node tells; none for anything else. */
export function chainCountOf(value: unknown): ChainCount {
  const [passed, rejected] = Array.isArray(value) ? (value as unknown[]) : [];
  return isCount(passed) && isCount(rejected) ? [passed, rejected] : [0, 0];
}

/** Returns the cells of a subject from another node; zeros for anything else. */
export function windowCellsOf(value: unknown): WindowCells {
  if (!Array.isArray(value) || value.length !== 3) return noCells;
  const [a, b, c] = value.map(cellOf);
  return a === undefined || b === undefined || c === undefined ? noCells : [a, b, c];
}
