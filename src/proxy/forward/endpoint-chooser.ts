// Endpoint chooser: balancing level 2, the endpoint of a destination for a request (contract.md §7.6, §7.7).
// Synchronous except for sticky sessions in a store.
import { hashKey } from '../upstream/balance/hash-key.ts';
import type { Endpoint, EndpointGroup } from '../upstream/endpoint-group.ts';
import { type Placements, placementMark, type Targets } from '../upstream/session/placements.ts';
import { endpointKey } from '../upstream/session/session-store.ts';
import type { SignedCookies, SignedLevel } from '../upstream/session/signed-cookies.ts';
import type { Upstream, Upstreams } from '../upstream/upstreams.ts';
import type { Sessions } from './sessions.ts';
import { placeOn, placeSigned } from './signed-placement.ts';

const notYet = -1;

export class EndpointChooser {
  readonly #sessions: Sessions;
  /** Hash key of the request; the same for all attempts. */
  #key = notYet;
  /** Names of the endpoints that failed: the next attempt goes to another one while one serves. */
  #tried: string[] | undefined;
  #request = 0;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  /** Tells requests apart: a store may answer when the next one is under way. */
  get request(): number {
    return this.#request;
  }

  clear(): void {
    this.#request++;
    this.#key = notYet;
    this.#tried = undefined;
  }

  tried(endpoint: Endpoint | undefined): void {
    if (endpoint === undefined) return;
    if (this.#tried === undefined) this.#tried = [endpoint.name];
    else this.#tried.push(endpoint.name);
  }

  /** Returns whether the store decides; otherwise `choose` does. Some endpoint is available. */
  usesStore({ balancing, group, signed }: Upstream, placements: Placements | undefined): placements is Placements {
    if (signed !== undefined) return false;
    if (balancing.algorithm !== 'STICKY' || placements?.up !== true || group.set.count === 1) return false;
    return this.#tried === undefined && this.#sessions.carried(balancing.cookie.name) !== '';
  }

  choose(upstream: Upstream, { sessions: placements, signed: cookies }: Upstreams): Endpoint | undefined {
    const { balancing, group, signed } = upstream;
    if (balancing.algorithm === 'STICKY') {
      if (group.set.count === 1) return group.pickAny();
      if (signed !== undefined && cookies !== undefined) return this.#placedBySigned(upstream, signed, cookies);
      if (placements !== undefined) return this.#placed(upstream, placements);
    }
    return this.byKey(upstream);
  }

  chooseByStore(upstream: Upstream, placements: Placements, answer: (endpoint: Endpoint | undefined) => void): void {
    const { name, ttlSeconds } = upstream.balancing.cookie;
    placements.find(
      endpointKey(this.#sessions.carried(name), upstream.id),
      ttlSeconds,
      new EndpointTargets(this, upstream),
      answer,
    );
  }

  #placed(upstream: Upstream, placements: Placements): Endpoint | undefined {
    const { name, ttlSeconds } = upstream.balancing.cookie;
    const begun = this.#sessions.carried(name) === '';
    const key = endpointKey(this.#sessions.session(name, ttlSeconds), upstream.id);
    if (this.#tried === undefined) {
      const targets = new EndpointTargets(this, upstream);
      return begun ? placements.begin(key, ttlSeconds, targets) : placements.recall(key, ttlSeconds, targets);
    }
    const next = this.byKey(upstream);
    // A session that its client has not got yet moves to the endpoint that answers; any other one stays.
    if (begun && next !== undefined) placements.move(key, ttlSeconds, next.name);
    return next;
  }

  /** The key of a signed placement is its mark: further attempts go to the next owners of it. */
  #placedBySigned(upstream: Upstream, level: SignedLevel, cookies: SignedCookies): Endpoint | undefined {
    if (this.#tried === undefined || this.#key === notYet) {
      const placed = placeSigned(cookies, this.#sessions, level, new EndpointTargets(this, upstream));
      if (this.#key === notYet && placed !== undefined) this.#key = placementMark(placed.name) >>> 0;
      return placed;
    }
    const next = this.byKey(upstream);
    if (next !== undefined && this.#sessions.isPlaced(level.name, level.scope)) {
      placeOn(cookies, this.#sessions, level, next.name);
    }
    return next;
  }

  byKey({ id, balancing, group }: Upstream): Endpoint | undefined {
    return group.pick(this.#keyOf(id, balancing, group), this.#tried);
  }

  #keyOf(id: string, { policies }: Upstream['balancing'], { balancer }: Upstream['group']): number {
    if (!balancer.keyed) return 0;
    if (this.#key === notYet) this.#key = hashKey(policies, id, this.#sessions);
    return this.#key;
  }
}

class EndpointTargets implements Targets<Endpoint> {
  readonly #chooser: EndpointChooser;
  readonly #upstream: Upstream;
  readonly #request: number;

  constructor(chooser: EndpointChooser, upstream: Upstream) {
    this.#chooser = chooser;
    this.#request = chooser.request;
    this.#upstream = upstream;
  }

  named(name: string): Endpoint | undefined {
    return this.#group?.serving(name);
  }

  marked(mark: number): Endpoint | undefined {
    return this.#group?.marked(mark);
  }

  /** Undefined once the request is over too: its key has gone. */
  byHash(): Endpoint | undefined {
    const isOver = this.#request !== this.#chooser.request;
    return isOver ? undefined : this.#group && this.#chooser.byKey(this.#upstream);
  }

  any(): Endpoint | undefined {
    return this.#group?.pickAny();
  }

  nameOf({ name }: Endpoint): string {
    return name;
  }

  /** Undefined while no endpoint serves. */
  get #group(): EndpointGroup | undefined {
    const { group } = this.#upstream;
    return group.available === 0 ? undefined : group;
  }
}
