// Draws that the simulator needs beyond "an integer below n".
import { type Rng, seededRng } from '../../core/rng.ts';

export class Chance implements Rng {
  readonly #rng: Rng;

  constructor(seed: number) {
    this.#rng = seededRng(seed);
  }

  below(n: number): number {
    return this.#rng.below(n);
  }

  /** Uniform in [0, 1). */
  fraction(): number {
    return this.#rng.below(0x4000_0000) / 0x4000_0000;
  }

  between(low: number, high: number): number {
    return low + this.fraction() * (high - low);
  }

  /** Whole number in [low, high]. */
  integer(low: number, high: number): number {
    return low + this.#rng.below(high - low + 1);
  }

  exponential(mean: number): number {
    return -mean * Math.log(1 - this.fraction());
  }

  happens(probability: number): boolean {
    return probability > 0 && this.fraction() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.#rng.below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  /** In place. */
  shuffle<T>(items: T[]): T[] {
    for (let i = items.length - 1; i > 0; i -= 1) {
      const j = this.#rng.below(i + 1);
      [items[i], items[j]] = [items[j]!, items[i]!];
    }
    return items;
  }

  /** An independent stream. */
  fork(): Chance {
    return new Chance(this.#rng.below(0x7fff_ffff));
  }
}
