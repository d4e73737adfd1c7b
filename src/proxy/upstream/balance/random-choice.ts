// Any of those that serve, by weight.
import type { Balancer, Random } from './balancer.ts';
import type { ServingSet } from './serving-set.ts';

export class RandomChoice implements Balancer {
  readonly keyed = false;
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  pick(set: ServingSet): number {
    if (set.even) return set.places[Math.floor(this.#random() * set.count)] ?? 0;
    return set.byShare(this.#random() * set.total);
  }
}
