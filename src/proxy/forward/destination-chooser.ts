// Destination chooser: balancing level 1, the share that a request belongs to (contract.md §7.5). Synchronous except for sticky sessions
// in a store.
import type { Placements, Targets } from '../upstream/session/placements.ts';
import { destinationKey } from '../upstream/session/session-store.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import type { ForwardPlan } from './forward-plan.ts';
import type { Sessions } from './sessions.ts';
import type { Share } from './share.ts';

export class DestinationChooser {
  readonly #sessions: Sessions;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  /** Returns whether the store decides; otherwise `choose` does. */
  usesStore({ choice }: ForwardPlan, placements: Placements | undefined): placements is Placements {
    if (choice.shares.length === 1 || choice.algorithm !== 'STICKY' || placements?.up !== true) return false;
    return this.#sessions.carried(choice.cookie.name) !== '';
  }

  choose(plan: ForwardPlan, upstreams: Upstreams): Share | undefined {
    const { choice, routeId } = plan;
    const { shares, algorithm, cookie } = choice;
    if (shares.length === 1) return shares[0];
    if (algorithm === 'WEIGHTED_RANDOM') return choice.byWeight(upstreams, Math.random);
    const carried = this.#sessions.carried(cookie.name) !== '';
    const session = this.#sessions.session(cookie.name, cookie.ttlSeconds);
    const { sessions: placements } = upstreams;
    if (algorithm !== 'STICKY' || placements === undefined) return choice.bySession(upstreams, session, routeId);
    const key = destinationKey(session, routeId);
    const targets = targetsOf(plan, upstreams, session);
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
    const targets = targetsOf(plan, upstreams, session);
    placements.find(destinationKey(session, plan.routeId), ttlSeconds, targets, answer);
  }
}

function targetsOf({ choice, routeId }: ForwardPlan, upstreams: Upstreams, session: string): Targets<Share> {
  return {
    named: (key) => choice.listed(upstreams, key),
    marked: (mark) => choice.marked(upstreams, mark),
    byHash: () => choice.bySession(upstreams, session, routeId),
    any: () => choice.byWeight(upstreams, Math.random),
    nameOf: ({ key }) => key,
  };
}
