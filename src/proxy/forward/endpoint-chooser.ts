// Level 2: which endpoint of a destination a request goes to (contract.md §7.6, §7.7). Synchronous but for sticky
// sessions that a store remembers.
import { hashKey } from '../upstream/balance/hash-key.ts';
import type { Endpoint } from '../upstream/endpoint-group.ts';
import { endpointKey, type SessionStore } from '../upstream/session/session-store.ts';
import type { Upstream } from '../upstream/upstreams.ts';
import type { Sessions } from './sessions.ts';

const notYet = -1;

export class EndpointChooser {
  readonly #sessions: Sessions;
  /** Of the request; the same for all tries. */
  #key = notYet;
  #tried: Endpoint[] | undefined;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  clear(): void {
    this.#key = notYet;
    this.#tried = undefined;
  }

  tried(endpoint: Endpoint | undefined): void {
    if (endpoint === undefined) return;
    if (this.#tried === undefined) this.#tried = [endpoint];
    else this.#tried.push(endpoint);
  }

  /** The store has to say; `choose` does otherwise. Some endpoint is available. */
  asks({ balancing, group }: Upstream, store: SessionStore | undefined): store is SessionStore {
    if (balancing.algorithm !== 'STICKY' || store?.up !== true || group.set.count === 1) return false;
    return this.#sessions.carried(balancing.cookie.name) !== '' && this.#repeated(group) === undefined;
  }

  choose({ id, balancing, group }: Upstream, store: SessionStore | undefined): Endpoint | undefined {
    if (balancing.algorithm !== 'STICKY') return group.pick(this.#keyOf(id, balancing, group), this.#tried);
    if (group.set.count === 1) return group.pickAny();
    const repeated = this.#repeated(group);
    if (repeated !== undefined) return repeated;
    const { name, ttlSeconds } = balancing.cookie;
    if (store?.up !== true) return group.pick(this.#keyOf(id, balancing, group), undefined);
    return assign(group, store, endpointKey(this.#sessions.session(name, ttlSeconds), id), ttlSeconds);
  }

  ask({ id, balancing, group }: Upstream, store: SessionStore, answer: (endpoint: Endpoint | undefined) => void): void {
    const { name, ttlSeconds } = balancing.cookie;
    const key = endpointKey(this.#sessions.carried(name), id);
    store.get(key, (stored) => {
      if (group.available === 0) answer(undefined);
      else if (stored === undefined) answer(group.pick(this.#keyOf(id, balancing, group), undefined));
      else answer(group.serving(stored) ?? assign(group, store, key, ttlSeconds));
    });
  }

  /** A session repeats its endpoint at every try, for as long as that serves. */
  #repeated(group: Upstream['group']): Endpoint | undefined {
    const last = this.#tried?.at(-1);
    return last === undefined ? undefined : group.serving(last.name);
  }

  #keyOf(id: string, { policies }: Upstream['balancing'], { balancer }: Upstream['group']): number {
    if (!balancer.keyed) return 0;
    if (this.#key === notYet) this.#key = hashKey(policies, id, this.#sessions);
    return this.#key;
  }
}

function assign(group: Upstream['group'], store: SessionStore, key: string, ttlSeconds: number): Endpoint | undefined {
  const endpoint = group.pickAny();
  if (endpoint !== undefined) store.set(key, endpoint.name, ttlSeconds);
  return endpoint;
}
