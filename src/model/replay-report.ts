// Report of a replay: requests of the last minutes by what a change does to them.
import type { RecentRequest } from './recent-request.ts';

/** Parts of a route that a change may alter without another route being chosen. */
export const changedParts = ['middlewares', 'destinations', 'rewrite', 'timeouts', 'answer'] as const;
export type ChangedPart = (typeof changedParts)[number];

export interface RouteName {
  readonly id: string;
  readonly name: string;
}

/** Requests that another route serves. Null: none does. */
export interface MovedRequests {
  readonly from: RouteName | null;
  readonly to: RouteName | null;
  readonly requests: number;
  readonly standsFor: number;
  /** As `GET /requests` shows them. */
  readonly examples: readonly RecentRequest[];
}

export interface ReplayReport {
  /** Requests that were matched against both configurations. */
  readonly requests: number;
  /** Requests that these stand for, where only a share was recorded. */
  readonly standsFor: number;
  /** Requests to which the change does nothing. */
  readonly same: number;
  readonly moved: readonly MovedRequests[];
  /** `no_route` answers them. */
  readonly lost: readonly MovedRequests[];
  /** `no_route` answered them. */
  readonly gained: readonly MovedRequests[];
  /** Served by the same route, which does something else with them. */
  readonly changed: readonly {
    readonly route: RouteName;
    readonly what: readonly ChangedPart[];
    readonly requests: number;
  }[];
  /** Requests of which the record does not tell what decides. */
  readonly undecided: readonly { readonly needs: string; readonly requests: number }[];
}
