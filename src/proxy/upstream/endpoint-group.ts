// The endpoints of a destination as one worker picks among them. Replaced whole when they change.

import type { DestinationState } from '../shared/destination-state.ts';
import type { Balancer, Random } from './balance/balancer.ts';
import { RandomChoice } from './balance/random-choice.ts';
import { type BalancedEndpoint, ServingSet } from './balance/serving-set.ts';
import type { EndpointAddress } from './endpoint-address.ts';
import type { EndpointPool } from './endpoint-pool.ts';
import type { OutlierDetector } from './outlier-detector.ts';
import { placementMark } from './session/placements.ts';

export interface Endpoint extends BalancedEndpoint {
  /** The name as it is shown. */
  readonly label: string;
  readonly address: EndpointAddress;
  readonly pool: EndpointPool;
}

export class EndpointGroup {
  readonly endpoints: readonly Endpoint[];
  readonly set: ServingSet;
  readonly balancer: Balancer;
  /** The same as long as the balancer may be used again. */
  readonly balancerText: string;
  /** Counts consecutive errors, also where ejection is off. */
  readonly outlier: OutlierDetector;
  readonly #randomChoice: RandomChoice;
  readonly #random: Random;
  /** Marks of the endpoints' names; computed when a placement is looked up. */
  #marks: readonly number[] | undefined;

  constructor(
    state: DestinationState,
    endpoints: readonly Endpoint[],
    balancing: { readonly balancer: Balancer; readonly text: string; readonly random: Random },
    outlier: OutlierDetector,
  ) {
    this.endpoints = endpoints;
    this.set = new ServingSet(state, endpoints);
    this.balancer = balancing.balancer;
    this.balancerText = balancing.text;
    this.outlier = outlier;
    this.#random = balancing.random;
    this.#randomChoice = new RandomChoice(balancing.random);
  }

  /** Endpoints that serve now. */
  get available(): number {
    return this.set.refresh();
  }

  /**
   * One that serves. To be asked while some are available. `tried`: names that are left out while others serve; a key goes
   * to its next owner then.
   */
  pick(key: number, tried: readonly string[] | undefined): Endpoint | undefined {
    const { set, balancer, endpoints } = this;
    const picked = endpoints[balancer.pick(set, key)];
    if (tried === undefined || picked === undefined || !tried.includes(picked.name)) return picked;
    if (!balancer.keyed) return this.#untried(tried) ?? picked;
    const serves = set.serves.map((serving, place) => (tried.includes(endpoints[place]?.name ?? '') ? 0 : serving));
    return serves.includes(1) ? endpoints[balancer.pick(set, key, serves)] : picked;
  }

  /** Any of those that serve, by weight. */
  pickAny(): Endpoint | undefined {
    return this.endpoints[this.#randomChoice.pick(this.set)];
  }

  /** The one of that name, if it serves. */
  serving(name: string): Endpoint | undefined {
    const place = this.endpoints.findIndex((endpoint) => endpoint.name === name);
    return place >= 0 && this.set.serves[place] === 1 ? this.endpoints[place] : undefined;
  }

  /** The one whose name has that mark, if it serves. */
  marked(mark: number): Endpoint | undefined {
    this.#marks ??= this.endpoints.map(({ name }) => placementMark(name));
    const place = this.#marks.indexOf(mark);
    return this.set.serves[place] === 1 ? this.endpoints[place] : undefined;
  }

  #untried(tried: readonly string[]): Endpoint | undefined {
    const { set, endpoints } = this;
    const start = Math.floor(this.#random() * set.count);
    for (let i = 0; i < set.count; i++) {
      const endpoint = endpoints[set.places[(start + i) % set.count] ?? 0];
      if (endpoint !== undefined && !tried.includes(endpoint.name)) return endpoint;
    }
    return undefined;
  }
}
