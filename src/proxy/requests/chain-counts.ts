// Runs of middlewares by route, those that passed and those that refused, in memory that all threads share. Each worker has
// counts of its own, so that none waits for another; main adds them up.
import type { ChainCount } from '../../model/traffic-report.ts';
import { keyText, SharedKeys } from './shared-keys.ts';

const capacity = 1 << 16;
/** Two counts for each place. */
const ofWorker = capacity * 2;
const keyBytes = SharedKeys.bytesOf(capacity);

export const newChainBytes = (workers: number): SharedArrayBuffer =>
  new SharedArrayBuffer(keyBytes + workers * ofWorker * 8);

/** Subject of a middleware in the chain of a route. */
export const chainSubject = (routeId: string, middlewareId: string): string => `${routeId}\0${middlewareId}`;

export class ChainCounts {
  readonly keys: SharedKeys;
  readonly #counts: Float64Array;

  constructor(bytes: SharedArrayBuffer) {
    this.keys = new SharedKeys(bytes, capacity);
    this.#counts = new Float64Array(bytes, keyBytes);
  }

  /** As `SharedKeys.claim`. */
  claim(routeId: string, middlewareId: string): number {
    return this.keys.claim(chainSubject(routeId, middlewareId));
  }

  /** Counts a run; `worker` is the one that calls. Returns false, and counts nothing, for a claim that does not hold. */
  count(worker: number, claim: number, isRefused: boolean): boolean {
    if (!this.keys.holds(claim)) return false;
    const place = this.keys.placeOf(claim);
    if (place < 0) return true;
    const at = worker * ofWorker + place * 2 + (isRefused ? 1 : 0);
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    return true;
  }

  read(routeId: string, middlewareId: string): ChainCount {
    let sum: ChainCount = [0, 0];
    for (const place of this.keys.find(chainSubject(routeId, middlewareId))) sum = together(sum, this.#sumAt(place));
    return sum;
  }

  /** Returns everything that was counted, by the text of its key. */
  all(): Map<string, ChainCount> {
    const found = new Map<string, ChainCount>();
    for (let place = 0; place < capacity; place++) {
      const sum = this.#sumAt(place);
      const text = sum[0] + sum[1] > 0 ? this.keys.textAt(place) : undefined;
      if (text !== undefined) found.set(text, together(found.get(text) ?? [0, 0], sum));
    }
    return found;
  }

  clear(place: number): void {
    for (let at = place * 2; at < this.#counts.length; at += ofWorker) this.#counts.fill(0, at, at + 2);
  }

  #sumAt(place: number): ChainCount {
    const sum: [passed: number, refused: number] = [0, 0];
    for (let at = place * 2; at < this.#counts.length; at += ofWorker) {
      sum[0] += this.#counts[at] ?? 0;
      sum[1] += this.#counts[at + 1] ?? 0;
    }
    return sum;
  }
}

const together = (one: ChainCount, other: ChainCount): ChainCount => [one[0] + other[0], one[1] + other[1]];

/** Returns the key of a middleware in the chain of a route as reports carry it. */
export const chainKeyText = (routeId: string, middlewareId: string): string =>
  keyText(chainSubject(routeId, middlewareId));
