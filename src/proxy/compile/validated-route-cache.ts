// Cache of validated routes: each compiled without a problem, with the objects of that compilation. A check of a hundred
// thousand routes of which one has changed compiles that one.
import type { Group } from '../../model/group.ts';
import type { Middleware } from '../../model/middleware.ts';
import type { Route } from '../../model/route.ts';
import { shardCount, shardOf } from '../../util/shard.ts';

interface Context {
  readonly group: Group | undefined;
  /** Those of the group, then those of the route, as they list them. */
  readonly middlewares: readonly (Middleware | undefined)[];
}

const noMiddlewares: readonly undefined[] = [];

export class ValidatedRoutes {
  /** By id of the group; the empty id is no group. */
  readonly #known = new WeakMap<Route, Map<string, Context>>();

  /** Routes in no group and without a middleware, as most are: presence is enough. */
  readonly #plain = Array.from({ length: shardCount }, () => new WeakSet<Route>());

  has(route: Route, group: Group | undefined, middlewares: ReadonlyMap<string, Middleware>): boolean {
    if (group === undefined && this.#plainLike(route).has(route)) return true;
    const company = this.#known.get(route)?.get(group?.id ?? '');
    if (company === undefined || company.group !== group) return false;
    if (company.middlewares === noMiddlewares) return true;
    const now = middlewaresOf(route, group, middlewares);
    return now.every((middleware, at) => middleware === company.middlewares[at]);
  }

  add(route: Route, group: Group | undefined, middlewares: ReadonlyMap<string, Middleware>): void {
    const company = { group, middlewares: middlewaresOf(route, group, middlewares) };
    if (group === undefined && company.middlewares === noMiddlewares) {
      this.#plainLike(route).add(route);
      return;
    }
    const companies = this.#known.get(route) ?? new Map<string, Context>();
    companies.set(group?.id ?? '', company);
    this.#known.set(route, companies);
  }

  #plainLike({ id }: Route): WeakSet<Route> {
    return this.#plain[shardOf(id)] as WeakSet<Route>;
  }
}

/** The same list, empty, for all who have none: both lists of ids belong to the objects that are compared. */
function middlewaresOf(
  route: Route,
  group: Group | undefined,
  middlewares: ReadonlyMap<string, Middleware>,
): Context['middlewares'] {
  const ids = [...(group?.middlewareIds ?? []), ...(route.middlewareIds ?? [])];
  return ids.length === 0 ? noMiddlewares : ids.map((id) => middlewares.get(id));
}
