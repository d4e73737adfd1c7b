// Record of the middlewares of one exchange: which ran, how long each took, and which of them answered. A place
// counts those that ran, outermost first; a slot is a link's place in the chain of its entry.

import type { Link } from './entry.ts';
import type { ExchangeObserver } from './exchange-context.ts';

export class ChainRecord {
  readonly #slots: number[] = [];
  /** Milliseconds by place; recorded while an observer measures middlewares. */
  readonly #spentMs: number[] = [];
  /** Place of the link that answered, −1 = none, and the status of its answer. */
  #answeredAt = -1;
  #answeredWith = 0;

  /** Number of links that ran so far. */
  get count(): number {
    return this.#slots.length;
  }

  /** Records that the link runs, as the innermost so far. */
  enter(slot: number): void {
    this.#slots.push(slot);
  }

  slotAt(place: number): number {
    return this.#slots[place] ?? -1;
  }

  spent(place: number, ms: number): void {
    this.#spentMs[place] = (this.#spentMs[place] ?? 0) + ms;
  }

  answered(place: number, status: number): void {
    this.#answeredAt = place;
    this.#answeredWith = status;
  }

  /** Returns whether the link at that place refused the exchange. */
  refusedAt(place: number): boolean {
    return place === this.#answeredAt && this.#answeredWith >= 400;
  }

  report(links: readonly Link[], observer: ExchangeObserver): void {
    for (let place = 0; place < this.#slots.length; place++) {
      const link = links[this.slotAt(place)];
      const status = place === this.#answeredAt ? this.#answeredWith : 0;
      if (link !== undefined) observer.onMiddleware(link, (this.#spentMs[place] ?? 0) / 1000, status);
    }
  }

  clear(): void {
    this.#answeredAt = -1;
    if (this.#slots.length === 0) return;
    this.#slots.length = 0;
    this.#spentMs.length = 0;
  }
}
