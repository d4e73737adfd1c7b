// Runs of middlewares by route, those that passed and those that refused, in memory that all threads share. Each worker has
// counts of its own, so that none waits for another; main adds them up.
import type { ChainCount } from '../../model/traffic-report.ts';
import { keyText, SharedKeys } from './shared-keys.ts';

const capacity = 1 << 16;
/** Two counts for each place. */
const ofWorker = capacity * 2;

export const newChainBytes = (workers: number): SharedArrayBuffer =>
  new SharedArrayBuffer((capacity + workers * ofWorker) * 8);

const subjectOf = (routeId: string, middlewareId: string): string => `${routeId}\0${middlewareId}`;

export class ChainCounts {
  readonly #keys: SharedKeys;
  readonly #counts: Float64Array;

  constructor(bytes: SharedArrayBuffer) {
    this.#keys = new SharedKeys(new BigInt64Array(bytes, 0, capacity));
    this.#counts = new Float64Array(bytes, capacity * 8);
  }

  /** As `SharedKeys.placeOf`. */
  placeOf(routeId: string, middlewareId: string): number {
    return this.#keys.placeOf(subjectOf(routeId, middlewareId));
  }

  /** Counts a run; `worker` is the one that calls. */
  count(worker: number, place: number, isRefused: boolean): void {
    if (place < 0) return;
    const at = worker * ofWorker + place * 2 + (isRefused ? 1 : 0);
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  read(routeId: string, middlewareId: string): ChainCount {
    const place = this.#keys.find(subjectOf(routeId, middlewareId));
    return place < 0 ? [0, 0] : this.#sumAt(place);
  }

  /** Returns everything that was counted, by the text of its key. */
  all(): Map<string, ChainCount> {
    const found = new Map<string, ChainCount>();
    for (let place = 0; place < capacity; place++) {
      const [passed, refused] = this.#sumAt(place);
      if (passed + refused > 0) found.set(this.#keys.textAt(place), [passed, refused]);
    }
    return found;
  }

  #sumAt(place: number): [passed: number, refused: number] {
    const sum: [passed: number, refused: number] = [0, 0];
    for (let at = place * 2; at < this.#counts.length; at += ofWorker) {
      sum[0] += this.#counts[at] ?? 0;
      sum[1] += this.#counts[at + 1] ?? 0;
    }
    return sum;
  }
}

/** Returns the key of a middleware in the chain of a route as reports carry it. */
export const chainKeyText = (routeId: string, middlewareId: string): string =>
  keyText(subjectOf(routeId, middlewareId));
