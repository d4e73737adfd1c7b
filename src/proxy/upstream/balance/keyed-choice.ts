// RING_HASH and MAGLEV: the key belongs to an endpoint, or while that one does not serve to the next that does.
import type { Balancer } from './balancer.ts';
import { HashRing, type RingMember } from './hash-ring.ts';
import { MaglevTable } from './maglev-table.ts';
import type { ServingSet } from './serving-set.ts';

interface Weighted {
  readonly name: string;
  readonly weight: number;
}

class KeyedChoice implements Balancer {
  readonly keyed = true;
  readonly #table: HashRing | MaglevTable;

  constructor(table: HashRing | MaglevTable) {
    this.#table = table;
  }

  pick(set: ServingSet, key: number, serves = set.serves): number {
    const place = this.#table.owner(key, serves);
    return place >= 0 ? place : (set.places[0] ?? 0);
  }
}

/** `sizeMin` nodes are spread over all endpoints; one of weight w has w times as many as one of weight 1. */
export function ringMembers(endpoints: readonly Weighted[], sizeMin: number): RingMember[] {
  const each = Math.max(1, Math.floor(sizeMin / endpoints.length));
  const total = endpoints.reduce((sum, { weight }) => sum + weight, 0);
  const even = endpoints.every(({ weight }) => weight === endpoints[0]?.weight);
  return endpoints.map(({ name, weight }) => ({
    name,
    nodes: even ? each : Math.max(1, Math.floor((sizeMin * weight) / total)),
  }));
}

export function* ringChoice(endpoints: readonly Weighted[], sizeMin: number): Generator<void, Balancer> {
  return new KeyedChoice(yield* HashRing.build(ringMembers(endpoints, sizeMin)));
}

export function* maglevChoice(endpoints: readonly Weighted[], size: number): Generator<void, Balancer> {
  return new KeyedChoice(yield* MaglevTable.build(endpoints, size));
}
