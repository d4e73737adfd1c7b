// Destination chooser: balancing level 1, the share that a request belongs to (contract.md §7.5). Synchronous except for sticky sessions
// in a store.
import type { Placements, Targets } from '../upstream/session/placements.ts';
import { destinationKey } from '../upstream/session/session-store.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import type { ForwardPlan } from './forward-plan.ts';
import type { Sessions } from './sessions.ts';
import type { Share } from './share.ts';
import { placeSigned } from './signed-placement.ts';

export class DestinationChooser {
  readonly #sessions: Sessions;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  /** Returns whether the store decides; otherwise `choose` does. */
  usesStore({ choice, signed }: ForwardPlan, placements: Placements | undefined): placements is Placements {
    if (signed !== undefined) return false;
    if (choice.shares.length === 1 || choice.algorithm !== 'STICKY' || placements?.up !== true) return false;
    return this.#sessions.carried(choice.cookie.name) !== '';
  }

  choose(plan: ForwardPlan, upstreams: Upstreams): Share | undefined {
    const { choice, routeId, signed } = plan;
    const { shares, algorithm, cookie } = choice;
    if (shares.length === 1) return shares[0];
    if (algorithm === 'WEIGHTED_RANDOM') return choice.byWeight(upstreams, Math.random);
    if (signed !== undefined && upstreams.signed !== undefined) {
      return placeSigned(upstreams.signed, this.#sessions, signed, new ShareTargets(plan, upstreams, this.#sessions));
    }
    const carried = this.#sessions.carried(cookie.name) !== '';
    const session = this.#sessions.session(cookie.name, cookie.ttlSeconds);
    const { sessions: placements } = upstreams;
    if (algorithm !== 'STICKY' || placements === undefined) return choice.bySession(upstreams, session, routeId);
    const key = destinationKey(session, routeId);
    const targets = new ShareTargets(plan, upstreams, session);
    return carried
      ? placements.recall(key, cookie.ttlSeconds, targets)
      : placements.begin(key, cookie.ttlSeconds, targets);
  }

  chooseByStore(
    plan: ForwardPlan,
    upstreams: Upstreams,
    placements: Placements,
    answer: (share: Share | undefined) => void,
  ): void {
    const { name, ttlSeconds } = plan.choice.cookie;
    const session = this.#sessions.carried(name);
    const targets = new ShareTargets(plan, upstreams, session);
    placements.find(destinationKey(session, plan.routeId), ttlSeconds, targets, answer);
  }
}

class ShareTargets implements Targets<Share> {
  readonly #plan: ForwardPlan;
  readonly #upstreams: Upstreams;
  readonly #session: string | Sessions;

  /** @param session id, or the sessions among which there is one, once it is hashed. */
  constructor(plan: ForwardPlan, upstreams: Upstreams, session: string | Sessions) {
    this.#plan = plan;
    this.#upstreams = upstreams;
    this.#session = session;
  }

  named(key: string): Share | undefined {
    return this.#plan.choice.listed(this.#upstreams, key);
  }

  marked(mark: number): Share | undefined {
    return this.#plan.choice.marked(this.#upstreams, mark);
  }

  byHash(): Share | undefined {
    const { choice, routeId } = this.#plan;
    const { name, ttlSeconds } = choice.cookie;
    const session = typeof this.#session === 'string' ? this.#session : this.#session.session(name, ttlSeconds);
    return choice.bySession(this.#upstreams, session, routeId);
  }

  any(): Share | undefined {
    return this.#plan.choice.byWeight(this.#upstreams, Math.random);
  }

  nameOf({ key }: Share): string {
    return key;
  }
}
