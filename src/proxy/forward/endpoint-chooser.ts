// Endpoint chooser: balancing level 2, the endpoint of a destination for a request (contract.md §7.6, §7.7).
// Synchronous except for sticky sessions in a store.
import { hashKey } from '../upstream/balance/hash-key.ts';
import type { Endpoint } from '../upstream/endpoint-group.ts';
import type { Placements, Targets } from '../upstream/session/placements.ts';
import { endpointKey } from '../upstream/session/session-store.ts';
import type { Upstream } from '../upstream/upstreams.ts';
import type { Sessions } from './sessions.ts';

const notYet = -1;

export class EndpointChooser {
  readonly #sessions: Sessions;
  /** Hash key of the request; the same for all attempts. */
  #key = notYet;
  /** Names of the endpoints that failed: the next attempt goes to another one while one serves. */
  #tried: string[] | undefined;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  clear(): void {
    this.#key = notYet;
    this.#tried = undefined;
  }

  tried(endpoint: Endpoint | undefined): void {
    if (endpoint === undefined) return;
    if (this.#tried === undefined) this.#tried = [endpoint.name];
    else this.#tried.push(endpoint.name);
  }

  /** Returns whether the store decides; otherwise `choose` does. Some endpoint is available. */
  usesStore({ balancing, group }: Upstream, placements: Placements | undefined): placements is Placements {
    if (balancing.algorithm !== 'STICKY' || placements?.up !== true || group.set.count === 1) return false;
    return this.#tried === undefined && this.#sessions.carried(balancing.cookie.name) !== '';
  }

  choose(upstream: Upstream, placements: Placements | undefined): Endpoint | undefined {
    const { balancing, group } = upstream;
    if (balancing.algorithm === 'STICKY') {
      if (group.set.count === 1) return group.pickAny();
      if (placements !== undefined) return this.#placed(upstream, placements);
    }
    return this.#byKey(upstream);
  }

  chooseByStore(upstream: Upstream, placements: Placements, answer: (endpoint: Endpoint | undefined) => void): void {
    const { name, ttlSeconds } = upstream.balancing.cookie;
    placements.find(
      endpointKey(this.#sessions.carried(name), upstream.id),
      ttlSeconds,
      this.#targets(upstream),
      answer,
    );
  }

  #placed(upstream: Upstream, placements: Placements): Endpoint | undefined {
    const { name, ttlSeconds } = upstream.balancing.cookie;
    const begun = this.#sessions.carried(name) === '';
    const key = endpointKey(this.#sessions.session(name, ttlSeconds), upstream.id);
    if (this.#tried === undefined) {
      const targets = this.#targets(upstream);
      return begun ? placements.begin(key, ttlSeconds, targets) : placements.recall(key, ttlSeconds, targets);
    }
    const next = this.#byKey(upstream);
    // A session that its client has not got yet moves to the endpoint that answers; any other one stays.
    if (begun && next !== undefined) placements.move(key, ttlSeconds, next.name);
    return next;
  }

  #targets(upstream: Upstream): Targets<Endpoint> {
    const { group } = upstream;
    const whileAny = (find: () => Endpoint | undefined) => (group.available === 0 ? undefined : find());
    return {
      named: (name) => whileAny(() => group.serving(name)),
      marked: (mark) => whileAny(() => group.marked(mark)),
      byHash: () => whileAny(() => this.#byKey(upstream)),
      any: () => whileAny(() => group.pickAny()),
      nameOf: ({ name }) => name,
    };
  }

  #byKey({ id, balancing, group }: Upstream): Endpoint | undefined {
    return group.pick(this.#keyOf(id, balancing, group), this.#tried);
  }

  #keyOf(id: string, { policies }: Upstream['balancing'], { balancer }: Upstream['group']): number {
    if (!balancer.keyed) return 0;
    if (this.#key === notYet) this.#key = hashKey(policies, id, this.#sessions);
    return this.#key;
  }
}
