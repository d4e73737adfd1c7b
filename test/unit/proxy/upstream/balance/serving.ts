// Destinations made of nothing but shared rows, for tests of what works on them.
import { DestinationState, destinationShape } from '../../../../../src/proxy/shared/destination-state.ts';
import { EndpointState, endpointShape } from '../../../../../src/proxy/shared/endpoint-state.ts';
import { SharedRows } from '../../../../../src/proxy/shared/shared-rows.ts';
import { type BalancedEndpoint, ServingSet } from '../../../../../src/proxy/upstream/balance/serving-set.ts';

/** The rows of one destination and its endpoints, as each of `threads` threads sees them. */
export function sharedStates(endpoints: number, threads = 1) {
  const destinations = new SharedRows(destinationShape, threads);
  const rows = new SharedRows(endpointShape, threads);
  destinations.grow(0);
  rows.grow(endpoints);
  return Array.from({ length: threads }, (_, place) => ({
    destination: new DestinationState(destinations.row(0, place)),
    endpoints: Array.from({ length: endpoints }, (__, row) => new EndpointState(rows.row(row, place))),
  }));
}

interface Wish {
  readonly weight?: number;
  readonly priority?: number;
}

export function servingSet(names: readonly string[], wishes: readonly Wish[] = []) {
  const [states] = sharedStates(names.length);
  if (states === undefined) throw new Error('no thread');
  const endpoints = names.map((name, i): BalancedEndpoint => {
    const state = states.endpoints[i];
    if (state === undefined) throw new Error('no row');
    return { name, weight: wishes[i]?.weight ?? 1, priority: wishes[i]?.priority ?? 0, state };
  });
  const set = new ServingSet(states.destination, endpoints);
  return {
    set,
    destination: states.destination,
    /** As its health check would. */
    setAvailable(place: number, yes: boolean): void {
      const endpoint = endpoints[place];
      if (endpoint !== undefined) endpoint.state.healthy = yes;
      states.destination.touch();
    },
  };
}

export const names = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `10.0.${i >> 8}.${i & 255}:80`);
