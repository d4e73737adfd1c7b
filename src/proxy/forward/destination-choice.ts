// Balancing level 1: the share of a route's requests that a request belongs to (contract.md §7.5). With failover only
// fixed answers and existing destinations with an available endpoint are eligible.
import type { ProxyErrorType } from '../../errors.ts';
import { routeDefaults } from '../../model/defaults.ts';
import type { Forward } from '../../model/forward.ts';
import { crc32 } from '../upstream/balance/crc32.ts';
import { rendezvousMembers, rendezvousOwner } from '../upstream/balance/rendezvous.ts';
import { type CookiePlan, cookiePlan } from '../upstream/destination-plan.ts';
import { placementMark } from '../upstream/session/placements.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import type { Share } from './share.ts';

export type DestinationAlgorithm = 'WEIGHTED_RANDOM' | 'WEIGHTED_CONSISTENT_HASH' | 'STICKY';

export interface ChoiceSettings {
  readonly algorithm: DestinationAlgorithm;
  readonly cookie: CookiePlan;
  /** False: an unavailable destination keeps its share, which is refused. */
  readonly failover: boolean;
}

export class DestinationChoice {
  readonly algorithm: DestinationAlgorithm;
  readonly cookie: CookiePlan;
  readonly failover: boolean;
  /** As listed; a destination may occur more than once. */
  readonly shares: readonly Share[];
  readonly #weights: readonly number[];
  readonly #serving: Uint8Array;
  /** Made when they are first needed: most routes need none. */
  #members: Uint32Array | undefined;
  /** Marks of the keys; made for the first placement lookup. */
  #marks: readonly number[] | undefined;

  constructor(shares: readonly Share[], { algorithm, cookie, failover }: ChoiceSettings) {
    this.shares = shares;
    this.algorithm = algorithm;
    this.cookie = cookie;
    this.failover = failover;
    this.#weights = shares.map(({ weight }) => weight);
    this.#serving = new Uint8Array(shares.length);
  }

  /** Chooses in proportion to weight, evenly when all weights are 0. Returns undefined when none is eligible. */
  byWeight(upstreams: Upstreams, random: () => number): Share | undefined {
    const { shares } = this;
    const { count, total } = this.#look(upstreams);
    if (count === 0) return undefined;
    let left = random() * (total === 0 ? count : total);
    let last: Share | undefined;
    for (let i = 0; i < shares.length; i++) {
      const part = total === 0 ? 1 : (this.#weights[i] ?? 0);
      if (this.#serving[i] === 0 || part === 0) continue;
      last = shares[i];
      left -= part;
      if (left < 0) break;
    }
    return last;
  }

  /** Returns the owner of the session by hash, among those that are eligible. */
  bySession(upstreams: Upstreams, session: string, routeId: string): Share | undefined {
    return this.#look(upstreams).count === 0 ? undefined : this.ownerOf(session, routeId, this.#serving);
  }

  /** Returns the share of that key, if it is listed and eligible. */
  listed(upstreams: Upstreams, key: string): Share | undefined {
    const share = this.shares.find((each) => each.key === key);
    return share !== undefined && this.#serves(share, upstreams) ? share : undefined;
  }

  /** Returns the share whose key has that mark, if it is eligible. */
  marked(upstreams: Upstreams, mark: number): Share | undefined {
    this.#marks ??= this.shares.map(({ key }) => placementMark(key));
    const share = this.shares[this.#marks.indexOf(mark)];
    return share !== undefined && this.#serves(share, upstreams) ? share : undefined;
  }

  /** Returns the owner of the session by hash, among those with 1 in `serving`, by place. */
  ownerOf(session: string, routeId: string, serving: Uint8Array): Share | undefined {
    this.#members ??= rendezvousMembers(this.shares.map(({ key }) => key));
    return this.shares[rendezvousOwner(crc32(`${session}:${routeId}`), this.#members, this.#weights, serving)];
  }

  /** Returns the error of a request for which no share is eligible. */
  whyNone(upstreams: Upstreams): ProxyErrorType {
    const isEmpty = this.shares.some(({ destinationId }) => upstreams.get(destinationId)?.isEmpty === true);
    return isEmpty ? 'destination_unavailable' : 'no_destination';
  }

  #serves({ answer, destinationId }: Share, upstreams: Upstreams): boolean {
    return answer !== undefined || !this.failover || upstreams.get(destinationId)?.available === true;
  }

  #look(upstreams: Upstreams): { count: number; total: number } {
    const { shares } = this;
    let count = 0;
    let total = 0;
    for (let i = 0; i < shares.length; i++) {
      const share = shares[i];
      const serves = share !== undefined && this.#serves(share, upstreams);
      this.#serving[i] = serves ? 1 : 0;
      if (!serves) continue;
      count++;
      total += share.weight;
    }
    return { count, total };
  }
}

/** Returns the choice for a route's settings. Routes with the same settings may share it. */
export function destinationChoice(
  { destinationBalancing, failover = routeDefaults.failover }: Forward,
  shares: readonly Share[],
): DestinationChoice {
  const defaults = routeDefaults.destinationBalancing;
  const algorithm = destinationBalancing?.algorithm ?? defaults.algorithm;
  const pin = algorithm === 'STICKY' ? destinationBalancing?.sticky : destinationBalancing?.weightedConsistentHash;
  return new DestinationChoice(shares, { algorithm, cookie: cookiePlan(pin?.cookie, defaults.cookie), failover });
}
