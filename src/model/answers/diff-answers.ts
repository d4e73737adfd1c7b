// `POST /diff`: how two configurations differ, and what becomes of recent requests.
import { count, integer, limited, list, nullable, object, oneOf, text } from '../json-type.ts';
import { Component, Optional, Required } from '../property.ts';
import { replayMax } from '../replay-limit.ts';
import { EntityDifference } from './entity-difference.ts';
import { Finding } from './finding-answers.ts';
import { IdAndName } from './id-and-name.ts';
import { RecentRequest } from './request-answers.ts';

/** Parts of a route that a change may alter without another route being chosen. */
export const changedParts = ['middlewares', 'destinations', 'rewrite', 'timeouts', 'answer'] as const;
export type ChangedPart = (typeof changedParts)[number];

const standsFor = 'Requests that these stand for, where only a share was recorded.';

export class RouteName {
  @Required(text, 'Id of the route.')
  readonly id!: string;

  @Required(text, 'Its name.')
  readonly name!: string;
}

/** Requests that another route serves. */
export class MovedRequests {
  @Required(nullable(object(RouteName)), 'Route that served them; null: none.')
  readonly from!: RouteName | null;

  @Required(nullable(object(RouteName)), 'Route that would serve them; null: none.')
  readonly to!: RouteName | null;

  @Required(count, 'Number of them.')
  readonly requests!: number;

  @Required(count, standsFor)
  readonly standsFor!: number;

  @Required(list(object(RecentRequest)), 'Five at most.')
  readonly examples!: readonly RecentRequest[];
}

export class ChangedRequests {
  @Required(object(RouteName))
  readonly route!: RouteName;

  @Required(list(oneOf(changedParts)), 'Parts of the route that differ.')
  readonly what!: readonly ChangedPart[];

  @Required(count, 'Number of them.')
  readonly requests!: number;
}

export class UndecidedRequests {
  @Required(text, '`header x-tenant`, `query page`, `body`, `certificate`.')
  readonly needs!: string;

  @Required(count, 'Number of them.')
  readonly requests!: number;
}

@Component('Requests of the last minutes by what the change does to them.', { as: 'Replay' })
export class ReplayReport {
  @Required(count, 'Requests that were replayed.')
  readonly requests!: number;

  @Required(count, standsFor)
  readonly standsFor!: number;

  @Required(count, 'Those to which the change does nothing.')
  readonly same!: number;

  @Required(list(object(MovedRequests)), 'Those that another route serves; null: a listener answers by itself.')
  readonly moved!: readonly MovedRequests[];

  @Required(list(object(MovedRequests)), 'Those that a route served and none would: `to` is null.')
  readonly lost!: readonly MovedRequests[];

  @Required(list(object(MovedRequests)), 'Those that no route served and one would: `from` is null.')
  readonly gained!: readonly MovedRequests[];

  @Required(list(object(ChangedRequests)), 'Those that the same route serves in another way.')
  readonly changed!: readonly ChangedRequests[];

  @Required(list(object(UndecidedRequests)), 'Those of which the record does not tell what decides.')
  readonly undecided!: readonly UndecidedRequests[];
}

/** Findings of one of two configurations alone. */
export class FindingsDifference {
  @Required(list(object(Finding)), 'Of the second.')
  readonly new!: readonly Finding[];

  @Required(list(object(Finding)), 'Of the first.')
  readonly gone!: readonly Finding[];
}

export class ReachedRoute extends IdAndName {
  @Required(list(text), '`destination cart: /options/timeouts/request`.')
  readonly why!: readonly string[];
}

/** Difference of two configurations, without their names and without requests. */
export class CapturedDifference {
  @Required(object(EntityDifference), 'Field by field, from the first to the second.')
  readonly entities!: EntityDifference;

  @Required(object(FindingsDifference), 'Findings of one of them alone.')
  readonly findings!: FindingsDifference;

  @Required(list(object(ReachedRoute)), 'Routes that a change reaches.')
  readonly routes!: readonly ReachedRoute[];
}

@Component('How two configurations differ.')
export class ConfigurationDifference extends CapturedDifference {
  @Required(nullable(text), '`staged`, or the id of the first snapshot; null: there was none.')
  readonly from!: string | null;

  @Required(text, '`staged`, or the id of the second snapshot.')
  readonly to!: string;

  @Required(nullable(object(ReplayReport)), 'Null: no requests were replayed.')
  readonly replay!: ReplayReport | null;

  @Optional(list(text), 'Nodes and proxies whose requests are not among the replayed ones; absent for an activation.')
  readonly unreachable?: readonly string[];
}

export class ReplayQuestion {
  @Optional(
    limited(integer, { minimum: 1, maximum: replayMax, default: replayMax }),
    'The newest of all nodes and proxies.',
  )
  readonly limit?: number;

  @Optional(text, 'CEL over a request, as in `GET /requests`: those for which it is true.')
  readonly where?: string;
}

const configuration = '`active`, `staged`, or the id of a snapshot.';

@Component('Which configurations are compared.')
export class DiffRequest {
  @Optional(text, configuration, { default: 'active' })
  readonly from?: string;

  @Optional(text, configuration, { default: 'staged' })
  readonly to?: string;

  @Optional(nullable(object(ReplayQuestion)), 'Requests that are matched against both; null or absent: none.')
  readonly replay?: ReplayQuestion | null;
}
