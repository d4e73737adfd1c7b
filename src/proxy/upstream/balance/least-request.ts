// A few are drawn, and the one with the fewest requests in flight in the process wins; of equals the one drawn first.
import type { Balancer, Random } from './balancer.ts';
import type { ServingSet } from './serving-set.ts';

export class LeastRequest implements Balancer {
  readonly keyed = false;
  readonly #choices: number;
  readonly #random: Random;
  /** Places of the serving endpoints, in any order: a draw continues from the order that the last one left. */
  #order = new Uint32Array(0);

  constructor(choices: number, random: Random) {
    this.#choices = choices;
    this.#random = random;
  }

  pick(set: ServingSet): number {
    const { count, places, endpoints } = set;
    if (this.#order.length !== count) this.#order = Uint32Array.from({ length: count }, (_, i) => i);
    const order = this.#order;
    const draws = Math.min(this.#choices, count);
    let best = 0;
    let fewest = Number.POSITIVE_INFINITY;
    for (let drawn = 0; drawn < draws; drawn++) {
      const at = drawn + Math.floor(this.#random() * (count - drawn));
      const chosen = order[at] ?? 0;
      order[at] = order[drawn] ?? 0;
      order[drawn] = chosen;
      const place = places[chosen] ?? 0;
      const inFlight = endpoints[place]?.state.inFlight ?? 0;
      if (inFlight >= fewest) continue;
      fewest = inFlight;
      best = place;
    }
    return best;
  }
}
