// What the middlewares of one exchange have done: who took part, how long each took, which of them answered itself. A
// place counts those who took part, outermost first; a slot is a link's place in the chain of its entry.
import type { ExchangeObserver } from './context.ts';
import type { Link } from './entry.ts';

export class ChainRecord {
  readonly #slots: number[] = [];
  /** Milliseconds, by place; while somebody asks. */
  readonly #spentMs: number[] = [];
  /** Place of the link that answered itself, −1 = none, and with what. */
  #answeredAt = -1;
  #answeredWith = 0;

  /** How many took part so far. */
  get count(): number {
    return this.#slots.length;
  }

  /** The link takes part, as the innermost so far. */
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

  tell(links: readonly Link[], observer: ExchangeObserver): void {
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
