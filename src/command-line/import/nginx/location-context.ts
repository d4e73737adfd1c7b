// Surroundings of a location of nginx.
import type { Statement } from '../statement.ts';
import type { Scope } from './scope.ts';
import type { Upstreams } from './upstream-blocks.ts';

export interface LocationContext {
  readonly upstreams: Upstreams;
  /** Server around it. */
  readonly scope: Scope;
  readonly locations: readonly Statement[];
}
