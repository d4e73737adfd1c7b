// Balancers (contract.md §7.6): one small class per algorithm, all behind the same interface.
import type { ServingSet } from './serving-set.ts';

/** A number in [0, 1). */
export type Random = () => number;

export interface Balancer {
  /** True when it uses the key: the same key leads to the same endpoint. */
  readonly keyed: boolean;
  /**
   * Place of an endpoint that serves. The set was refreshed and has at least one. `key`: 0…2^32 − 1, 0 where nothing is
   * keyed. `serves`: 1 for each place that a key may lead to, at least one; by default all that serve.
   */
  pick(set: ServingSet, key: number, serves?: Uint8Array): number;
}
