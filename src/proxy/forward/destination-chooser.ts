// Level 1 for one request: which destination of its route it goes to (contract.md §7.5). Synchronous but for sticky
// sessions that a store remembers.
import { destinationKey, type SessionStore } from '../upstream/session/session-store.ts';
import type { Upstream, Upstreams } from '../upstream/upstreams.ts';
import type { ForwardPlan } from './forward-plan.ts';
import type { Sessions } from './sessions.ts';

export class DestinationChooser {
  readonly #sessions: Sessions;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  /** The store has to say; `choose` does otherwise. */
  asks({ choice }: ForwardPlan, store: SessionStore | undefined): store is SessionStore {
    if (choice.ids.length === 1 || choice.algorithm !== 'STICKY' || store?.up !== true) return false;
    return this.#sessions.carried(choice.cookie.name) !== '';
  }

  choose({ choice, routeId }: ForwardPlan, upstreams: Upstreams): Upstream | undefined {
    const { ids, algorithm, cookie } = choice;
    if (ids.length === 1) return upstreams.get(ids[0] ?? '');
    if (algorithm === 'WEIGHTED_RANDOM') return choice.byWeight(upstreams, Math.random);
    const session = this.#sessions.session(cookie.name, cookie.ttlSeconds);
    const { sessions: store } = upstreams;
    if (algorithm !== 'STICKY' || store?.up !== true) return choice.bySession(upstreams, session, routeId);
    return assign(choice, upstreams, store, destinationKey(session, routeId));
  }

  ask(
    { choice, routeId }: ForwardPlan,
    upstreams: Upstreams,
    store: SessionStore,
    answer: (upstream: Upstream | undefined) => void,
  ): void {
    const session = this.#sessions.carried(choice.cookie.name);
    const key = destinationKey(session, routeId);
    store.get(key, (id) => {
      if (id === undefined) answer(choice.bySession(upstreams, session, routeId));
      else answer(choice.listed(upstreams, id) ?? assign(choice, upstreams, store, key));
    });
  }
}

function assign(
  choice: ForwardPlan['choice'],
  upstreams: Upstreams,
  store: SessionStore,
  key: string,
): Upstream | undefined {
  const upstream = choice.byWeight(upstreams, Math.random);
  if (upstream !== undefined) store.set(key, upstream.id, choice.cookie.ttlSeconds);
  return upstream;
}
