// Traffic figures of a proxy, apart for the stable configuration and for a candidate (fleet.md §4): a few numbers per
// worker in shared memory, added up by main. Counted for every request, metrics on or off.
import { latencyBuckets } from '../../model/fleet-messages.ts';
import { latencyBucketOf } from '../../model/traffic-cells.ts';

/** Places per role: four counters, then the buckets of latency. */
const counters = 4;
const perRole = counters + latencyBuckets;

export type ConfigRole = 'stable' | 'candidate';

/** Since the start of the process. */
export interface RoleFigures {
  readonly requests: number;
  /** Answers of 500 and above that were not the proxy's own errors. */
  readonly serverErrors: number;
  /** Answers of 400 to 499 that were not the proxy's own errors. */
  readonly clientErrors: number;
  /** Errors that the proxy itself reported, of whichever status. */
  readonly proxyErrors: number;
  readonly latency: readonly number[];
}

export const newFigureBytes = (): SharedArrayBuffer => new SharedArrayBuffer(2 * perRole * 8);

/** Figures of one worker, which alone counts in them; any thread may read. */
export class Figures {
  readonly #cells: Float64Array;

  constructor(bytes: SharedArrayBuffer = newFigureBytes()) {
    this.#cells = new Float64Array(bytes);
  }

  count(role: ConfigRole, status: number, isProxyError: boolean, ms: number): void {
    const cells = this.#cells;
    const base = role === 'stable' ? 0 : perRole;
    cells[base] = (cells[base] ?? 0) + 1;
    const kind = isProxyError ? 3 : status >= 500 ? 1 : status >= 400 ? 2 : 0;
    if (kind > 0) cells[base + kind] = (cells[base + kind] ?? 0) + 1;
    const bucket = base + counters + latencyBucketOf(ms);
    cells[bucket] = (cells[bucket] ?? 0) + 1;
  }

  read(role: ConfigRole): RoleFigures {
    const base = role === 'stable' ? 0 : perRole;
    const [requests = 0, serverErrors = 0, clientErrors = 0, proxyErrors = 0, ...latency] = this.#cells.subarray(
      base,
      base + perRole,
    );
    return { requests, serverErrors, clientErrors, proxyErrors, latency };
  }
}

/** Adds up the figures of all workers. */
export function sumOfFigures(list: readonly RoleFigures[]): RoleFigures {
  const sum = { requests: 0, serverErrors: 0, clientErrors: 0, proxyErrors: 0 };
  const latency = new Array<number>(latencyBuckets).fill(0);
  for (const each of list) {
    sum.requests += each.requests;
    sum.serverErrors += each.serverErrors;
    sum.clientErrors += each.clientErrors;
    sum.proxyErrors += each.proxyErrors;
    for (let i = 0; i < latencyBuckets; i++) latency[i] = (latency[i] ?? 0) + (each.latency[i] ?? 0);
  }
  return { ...sum, latency };
}
