// Balancing level 1: the destination of a route for a request (contract.md §7.5). Only existing destinations with an
// available endpoint are eligible.
import { routeDefaults } from '../../model/defaults.ts';
import type { Forward } from '../../model/forward.ts';
import { crc32 } from '../upstream/balance/crc32.ts';
import { built, HashRing } from '../upstream/balance/hash-ring.ts';
import { type CookiePlan, cookiePlan } from '../upstream/destination-plan.ts';
import { placementMark } from '../upstream/session/placements.ts';
import type { Upstream, Upstreams } from '../upstream/upstreams.ts';

export type DestinationAlgorithm = 'WEIGHTED_RANDOM' | 'WEIGHTED_CONSISTENT_HASH' | 'STICKY';

/** Nodes of the ring, shared out by weight: rounded, and one at least for a weight above 0. */
const ringNodes = 10_000;

export class DestinationChoice {
  readonly algorithm: DestinationAlgorithm;
  readonly cookie: CookiePlan;
  /** As listed; an id may occur more than once. */
  readonly ids: readonly string[];
  readonly weights: readonly number[];
  readonly #serving: Uint8Array;
  /** Made when it is first needed: most routes need none. */
  #ring: HashRing | undefined;
  /** Marks of the ids; made for the first placement lookup. */
  #marks: readonly number[] | undefined;

  constructor(ids: readonly string[], weights: readonly number[], algorithm: DestinationAlgorithm, cookie: CookiePlan) {
    this.ids = ids;
    this.weights = weights;
    this.algorithm = algorithm;
    this.cookie = cookie;
    this.#serving = new Uint8Array(ids.length);
  }

  /** Chooses in proportion to weight, evenly when all weights are 0. Returns undefined when none is eligible. */
  byWeight(upstreams: Upstreams, random: () => number): Upstream | undefined {
    const { ids, weights } = this;
    const { count, total } = this.#look(upstreams);
    if (count === 0) return undefined;
    let left = random() * (total === 0 ? count : total);
    let last: Upstream | undefined;
    for (let i = 0; i < ids.length; i++) {
      const share = total === 0 ? 1 : (weights[i] ?? 0);
      if (this.#serving[i] === 0 || share === 0) continue;
      last = upstreams.get(ids[i] ?? '');
      left -= share;
      if (left < 0) break;
    }
    return last;
  }

  /** Returns the owner of the session by hash, or the next on the ring. */
  bySession(upstreams: Upstreams, session: string, routeId: string): Upstream | undefined {
    if (this.#look(upstreams).count === 0) return undefined;
    const owner = this.ownerOf(session, routeId, this.#serving);
    // The eligible ones may own no part of the ring: their weight is 0.
    return owner === undefined ? this.byWeight(upstreams, () => 0) : upstreams.get(owner);
  }

  /** Returns the destination of that id, if it is listed and eligible. */
  listed(upstreams: Upstreams, id: string): Upstream | undefined {
    const upstream = this.ids.includes(id) ? upstreams.get(id) : undefined;
    return upstream?.available === true ? upstream : undefined;
  }

  /** Returns the destination whose id has that mark, if it is eligible. */
  marked(upstreams: Upstreams, mark: number): Upstream | undefined {
    this.#marks ??= this.ids.map(placementMark);
    const id = this.ids[this.#marks.indexOf(mark)];
    return id === undefined ? undefined : this.listed(upstreams, id);
  }

  /** Returns the owner of the session by hash, among those with 1 in `serving`, by place. */
  ownerOf(session: string, routeId: string, serving: Uint8Array): string | undefined {
    this.#ring ??= built(HashRing.build(ringMembers(this.ids, this.weights)));
    return this.ids[this.#ring.owner(crc32(`${session}:${routeId}`), serving)];
  }

  #look(upstreams: Upstreams): { count: number; total: number } {
    const { ids, weights } = this;
    let count = 0;
    let total = 0;
    for (let i = 0; i < ids.length; i++) {
      const serves = upstreams.get(ids[i] ?? '')?.available === true;
      this.#serving[i] = serves ? 1 : 0;
      if (!serves) continue;
      count++;
      total += weights[i] ?? 0;
    }
    return { count, total };
  }
}

/** Returns the choice for a route's settings. Routes with the same settings may share it. */
export function destinationChoice({ destinations, destinationBalancing }: Forward): DestinationChoice {
  const defaults = routeDefaults.destinationBalancing;
  const algorithm = destinationBalancing?.algorithm ?? defaults.algorithm;
  const pin = algorithm === 'STICKY' ? destinationBalancing?.sticky : destinationBalancing?.weightedConsistentHash;
  return new DestinationChoice(
    destinations.map(({ destinationId }) => destinationId),
    destinations.map(({ weight = routeDefaults.weight }) => weight),
    algorithm,
    cookiePlan(pin?.cookie, defaults.cookie),
  );
}

function ringMembers(ids: readonly string[], weights: readonly number[]) {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const nodesOf = (weight: number): number =>
    weight === 0 ? 0 : Math.max(1, Math.round((weight * ringNodes) / total));
  return ids.map((name, i) => ({ name, nodes: total === 0 ? 1 : nodesOf(weights[i] ?? 0) }));
}
