// The endpoints of a destination as one worker picks among them. Replaced whole when they change.

import type { DestinationState } from '../shared/destination-state.ts';
import type { Balancer, Random } from './balance/balancer.ts';
import { RandomChoice } from './balance/random-choice.ts';
import { type BalancedEndpoint, ServingSet } from './balance/serving-set.ts';
import type { EndpointPool } from './endpoint-pool.ts';
import type { OutlierDetector } from './outlier-detector.ts';

export interface Endpoint extends BalancedEndpoint {
  readonly pool: EndpointPool;
}

export class EndpointGroup {
  readonly endpoints: readonly Endpoint[];
  readonly set: ServingSet;
  readonly balancer: Balancer;
  /** The same as long as the balancer may be used again. */
  readonly balancerText: string;
  /** Counts errors in a row, whether anybody is ejected for them or not. */
  readonly outlier: OutlierDetector;
  readonly #anyone: RandomChoice;
  readonly #random: Random;

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
    this.#anyone = new RandomChoice(balancing.random);
  }

  /** Endpoints that serve now. */
  get available(): number {
    return this.set.refresh();
  }

  /** One that serves. To be asked while some are available. `tried` are left out where the key does not decide. */
  pick(key: number, tried: readonly Endpoint[] | undefined): Endpoint | undefined {
    const { set, balancer, endpoints } = this;
    const picked = endpoints[balancer.pick(set, key)];
    if (tried === undefined || tried.length === 0 || balancer.keyed) return picked;
    return picked !== undefined && tried.includes(picked) ? (this.#untried(tried) ?? picked) : picked;
  }

  /** Any of those that serve, by weight. */
  pickAny(): Endpoint | undefined {
    return this.endpoints[this.#anyone.pick(this.set)];
  }

  /** The one of that name, if it serves. */
  serving(name: string): Endpoint | undefined {
    const place = this.endpoints.findIndex((endpoint) => endpoint.name === name);
    return place >= 0 && this.set.serves[place] === 1 ? this.endpoints[place] : undefined;
  }

  #untried(tried: readonly Endpoint[]): Endpoint | undefined {
    const { set, endpoints } = this;
    const start = Math.floor(this.#random() * set.count);
    for (let i = 0; i < set.count; i++) {
      const endpoint = endpoints[set.places[(start + i) % set.count] ?? 0];
      if (endpoint !== undefined && !tried.includes(endpoint)) return endpoint;
    }
    return undefined;
  }
}
