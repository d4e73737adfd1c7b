// Time of the last request of each route and destination, in memory that all threads share: workers write, main reads.
import { SharedKeys } from './shared-keys.ts';

const capacity = 1 << 18;
/** A key and a time for each place. */
const placeBytes = 16;

export const newHitBytes = (): SharedArrayBuffer => new SharedArrayBuffer(capacity * placeBytes);

export class LastHits {
  readonly #keys: SharedKeys;
  readonly #times: Float64Array;

  constructor(bytes: SharedArrayBuffer) {
    this.#keys = new SharedKeys(new BigInt64Array(bytes, 0, capacity));
    this.#times = new Float64Array(bytes, capacity * 8, capacity);
  }

  /** As `SharedKeys.placeOf`. */
  placeOf(id: string): number {
    return this.#keys.placeOf(id);
  }

  /** @param ms Unix milliseconds */
  hit(place: number, ms: number): void {
    if (place >= 0) this.#times[place] = ms;
  }

  /** Returns Unix milliseconds; undefined before the first hit. */
  read(id: string): number | undefined {
    return this.#times[this.#keys.find(id)] || undefined;
  }

  /** Returns up to `most` subjects that were hit after a time, by the text of their keys, longest ago first. */
  since(ms: number, most: number): (readonly [key: string, ms: number])[] {
    const found: [place: number, ms: number][] = [];
    for (let place = 0; place < capacity; place++) {
      const at = this.#times[place] ?? 0;
      if (at > ms) found.push([place, at]);
    }
    found.sort(([, a], [, b]) => a - b);
    return found.slice(0, most).map(([place, at]) => [this.#keys.textAt(place), at] as const);
  }
}
