// Time of the last request of each route and destination, in memory that all threads share: workers write, main reads.
import { SharedKeys } from './shared-keys.ts';

const capacity = 1 << 18;
const keyBytes = SharedKeys.bytesOf(capacity);

export const newHitBytes = (): SharedArrayBuffer => new SharedArrayBuffer(keyBytes + capacity * 8);

/** Subject of a destination; that of a route is its id. */
export const destinationSubject = (id: string): string => `destination/${id}`;

export class LastHits {
  readonly keys: SharedKeys;
  readonly #times: Float64Array;

  constructor(bytes: SharedArrayBuffer) {
    this.keys = new SharedKeys(bytes, capacity);
    this.#times = new Float64Array(bytes, keyBytes, capacity);
  }

  /** As `SharedKeys.claim`. */
  claim(subject: string): number {
    return this.keys.claim(subject);
  }

  /**
   * Notes a hit. Returns false, and notes nothing, for a claim that does not hold.
   * @param ms Unix milliseconds
   */
  hit(claim: number, ms: number): boolean {
    if (!this.keys.holds(claim)) return false;
    const place = this.keys.placeOf(claim);
    if (place >= 0) this.#times[place] = ms;
    return true;
  }

  /** Returns Unix milliseconds; undefined before the first hit. */
  read(subject: string): number | undefined {
    let last = 0;
    for (const place of this.keys.find(subject)) last = Math.max(last, this.#times[place] ?? 0);
    return last || undefined;
  }

  /** Returns up to `most` subjects that were hit after a time, by the text of their keys, longest ago first. */
  since(ms: number, most: number): (readonly [key: string, ms: number])[] {
    const found: [place: number, ms: number][] = [];
    for (let place = 0; place < capacity; place++) {
      const at = this.#times[place] ?? 0;
      if (at > ms) found.push([place, at]);
    }
    found.sort(([, a], [, b]) => a - b);
    return found.slice(0, most).flatMap(([place, at]) => {
      const text = this.keys.textAt(place);
      return text === undefined ? [] : [[text, at] as const];
    });
  }

  clear(place: number): void {
    this.#times[place] = 0;
  }
}
