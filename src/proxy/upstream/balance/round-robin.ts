// One after the other in configured order; with weights, each as often per round as its weight.
import type { Balancer } from './balancer.ts';
import type { ServingSet } from './serving-set.ts';

export class RoundRobin implements Balancer {
  readonly keyed = false;
  #turn = 0;
  /** Set that the current round was computed for. */
  #set: ServingSet | undefined;
  #revision = -1;
  #length = 0;
  #stride = 1;

  /** `turn`: where to begin, so that threads do not go in step. */
  constructor(turn = 0) {
    this.#turn = turn;
  }

  pick(set: ServingSet): number {
    if (set.even) {
      const turn = this.#turn < set.count ? this.#turn : 0;
      this.#turn = turn + 1;
      return set.places[turn] ?? 0;
    }
    if (this.#set !== set || this.#revision !== set.revision) this.#measure(set);
    const turn = this.#turn < this.#length ? this.#turn : 0;
    this.#turn = turn + 1;
    return set.byShare((turn * this.#stride) % this.#length);
  }

  /** A round has a turn for each unit of weight; the stride spreads the turns of a heavy one over the round. */
  #measure(set: ServingSet): void {
    this.#set = set;
    this.#revision = set.revision;
    this.#length = set.total;
    let stride = Math.max(1, Math.round(this.#length * 0.618_033_988_75));
    while (greatestCommonDivisor(stride, this.#length) !== 1) stride++;
    this.#stride = stride;
  }
}

function greatestCommonDivisor(a: number, b: number): number {
  let [high, low] = [a, b];
  while (low !== 0) [high, low] = [low, high % low];
  return high;
}
