// The action of an entry that sends its requests on.
import type { Forward } from '../../model/forward.ts';
import type { Group } from '../../model/group.ts';
import { hides } from '../../model/hidden.ts';
import type { Route } from '../../model/route.ts';
import type { RewritePlan } from '../action/target-rewrite.ts';
import type { DestinationChoice } from '../forward/destination-choice.ts';
import { compileForward } from '../forward/forward-plan.ts';
import { ForwardAction } from '../forward/forwarding-action.ts';
import { retryPlan } from '../forward/retry-policy.ts';
import type { RankedEntry } from '../match/route-entry.ts';
import type { EntryPath } from '../target/path.ts';
import type { MakesAction } from './lazy-entry.ts';

export function forwardOf(
  route: Route,
  group: Group | undefined,
  path: EntryPath,
  choice: DestinationChoice,
  rewrite: RewritePlan | undefined,
): ForwardAction {
  const { id, forward = noForward } = route;
  const retry = retryPlan(forward.retry, group?.retryDefault);
  const attemptCount = group?.includeAttemptCount === true;
  const rewrites = rewrite !== undefined || choice.shares.some(({ edits }) => edits?.rewrite !== undefined);
  const hidesTarget = rewrites && (hides(route, '/forward/rewrite') || hides(route, '/forward/destinations'));
  const surroundings = { routeId: id, path, rewrite, hidesTarget, retry, attemptCount, choice };
  return new ForwardAction(compileForward(forward, surroundings));
}

const noForward: Forward = { destinations: [] };

/** Forward of all entries with the same choice and no rewrite. A plan can be made of every such forward. */
export class PlainForward implements MakesAction {
  readonly kind = 'to be made';
  readonly #choice: DestinationChoice;

  constructor(choice: DestinationChoice) {
    this.#choice = choice;
  }

  actionOf({ route, group, path }: Pick<RankedEntry, 'route' | 'group' | 'path'>): ForwardAction {
    return forwardOf(route, group, path, this.#choice, undefined);
  }
}
