// Serving endpoints of a destination: those that are available, of the lowest priority number that has any
// (architecture.md §6.24). Read at every pick and computed again only when the availability of some endpoint changed.
import type { DestinationState } from '../../shared/destination-state.ts';
import type { EndpointState } from '../../shared/endpoint-state.ts';

/** An endpoint as balancing sees it. */
export interface BalancedEndpoint {
  /** `host:port`. */
  readonly name: string;
  readonly weight: number;
  readonly priority: number;
  readonly state: EndpointState;
}

export class ServingSet {
  /** All of the destination, in configured order. */
  readonly endpoints: readonly BalancedEndpoint[];
  readonly #destination: DestinationState;
  /** Places of those that serve, in configured order; the first `count` are valid. */
  readonly places: Uint32Array;
  /** 1 for each place that serves. */
  readonly serves: Uint8Array;
  /** Running sums of the weights of those that serve. */
  readonly sums: Float64Array;
  #count = 0;
  #version = 0;
  #even = true;
  #computed = false;
  /** Another number whenever what serves has changed. */
  revision = 0;

  constructor(destination: DestinationState, endpoints: readonly BalancedEndpoint[]) {
    this.endpoints = endpoints;
    this.#destination = destination;
    this.places = new Uint32Array(endpoints.length);
    this.serves = new Uint8Array(endpoints.length);
    this.sums = new Float64Array(endpoints.length);
  }

  /** Brings the set up to date and returns the number of serving endpoints. Call it before every pick. */
  refresh(): number {
    const version = this.#destination.version;
    if (!this.#computed || version !== this.#version) this.#compute(version);
    return this.#count;
  }

  get count(): number {
    return this.#count;
  }

  /** All that serve have the same weight. */
  get even(): boolean {
    return this.#even;
  }

  /** Sum of the weights of those that serve. */
  get total(): number {
    return this.#count === 0 ? 0 : (this.sums[this.#count - 1] ?? 0);
  }

  /** The place, among those that serve, whose share of the sum of weights holds `at`. */
  byShare(at: number): number {
    let low = 0;
    let high = this.#count - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.sums[middle] ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    return this.places[low] ?? 0;
  }

  #compute(version: number): void {
    this.#version = version;
    this.#computed = true;
    this.revision++;
    let priority = Number.POSITIVE_INFINITY;
    for (const endpoint of this.endpoints) {
      if (endpoint.priority < priority && endpoint.state.available) priority = endpoint.priority;
    }
    let count = 0;
    let sum = 0;
    this.#even = true;
    const first = { weight: 0 };
    this.endpoints.forEach((endpoint, place) => {
      const serves = endpoint.priority === priority && endpoint.state.available;
      this.serves[place] = serves ? 1 : 0;
      if (!serves) return;
      if (count === 0) first.weight = endpoint.weight;
      else if (endpoint.weight !== first.weight) this.#even = false;
      sum += endpoint.weight;
      this.places[count] = place;
      this.sums[count] = sum;
      count++;
    });
    this.#count = count;
  }
}
