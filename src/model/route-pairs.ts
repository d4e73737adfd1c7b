// The pairs of group and route that entries are made of (contract.md §6.5), and those in which two configurations differ.
import type { Group } from './group.ts';
import { editsBetween, type ListEdit } from './list-edits.ts';
import type { Route } from './route.ts';

/** One for each group that lists the route, and one without a group for a route that is in none. */
export interface RoutePair {
  readonly route: Route;
  readonly group: Group | undefined;
  /** Among the routes of the group, each counted once. */
  readonly position: number;
}

/** The part of a configuration that pairs are made of. */
export interface PairSource {
  /** Ascending by id. */
  readonly routes: readonly Route[];
  readonly groups: readonly Group[];
}

export interface PairChanges {
  readonly removed: readonly RoutePair[];
  readonly added: readonly RoutePair[];
}

/** Routes by id, and in their order. */
export type RoutesById = Pick<ReadonlyMap<string, Route>, 'get' | 'values'>;

/** Lists that ascend are their own index. In steps. */
export function* routesById(routes: readonly Route[]): Generator<void, RoutesById> {
  if (yield* ascends(routes)) return { get: (id) => routeOf(routes, id), values: () => routes.values() };
  const byId = new Map<string, Route>();
  for (const route of routes) {
    byId.set(route.id, route);
    if (byId.size % 256 === 0) yield;
  }
  return byId;
}

/** Yields the pairs of group and route. An id that a group lists and no route has makes no pair. */
export function* pairsOf(groups: readonly Group[], byId: RoutesById): Generator<RoutePair> {
  const grouped = new Set<string>();
  for (const group of groups) {
    const listed = new Set<string>();
    for (const id of group.routeIds ?? []) {
      if (listed.has(id)) continue;
      const position = listed.size;
      listed.add(id);
      const route = byId.get(id);
      if (route === undefined) continue;
      grouped.add(id);
      yield { route, group, position };
    }
  }
  for (const route of byId.values()) {
    if (grouped.size === 0 || !grouped.has(route.id)) yield { route, group: undefined, position: 0 };
  }
}

/**
 * Undefined where it is no less work to begin anew: so much has changed, or routes do not ascend by id, as those of another
 * maker may not. In steps.
 */
export function* pairChanges(former: PairSource, next: PairSource): Generator<void, PairChanges | undefined> {
  const routes = yield* editsBetween(former.routes, next.routes);
  const groups = former.groups === next.groups ? [] : yield* editsBetween(former.groups, next.groups);
  const touched = new Set<string>();
  const most = touchedMin + next.routes.length / touchedShare;
  for (const { removed, inserted } of routes) {
    if (removed.length + inserted.length > 2 * most) return undefined;
    for (const { id } of removed) touched.add(id);
    for (const { id } of inserted) touched.add(id);
    if (touched.size > most) return undefined;
  }
  for (const { removed, inserted } of groups) {
    for (const { routeIds = [] } of [...removed, ...inserted]) for (const id of routeIds) touched.add(id);
    if (touched.size > most) return undefined;
    yield;
  }
  if (!(yield* ascends(former.routes)) || !ascendsStill(next.routes, routes)) return undefined;
  ascending.add(next.routes);
  const before = yield* pairsAmong(former, touched);
  const after = yield* pairsAmong(next, touched);
  const kept = new Map<Route, RoutePair[]>();
  for (const pair of before) kept.set(pair.route, [...(kept.get(pair.route) ?? []), pair]);
  const stays = new Set<RoutePair>();
  const added = after.filter((pair) => {
    const same = kept.get(pair.route)?.find((each) => each.group === pair.group && each.position === pair.position);
    if (same !== undefined) stays.add(same);
    return same === undefined;
  });
  return { removed: before.filter((pair) => !stays.has(pair)), added };
}

/** More than these and that part of all routes are as good as all. */
const touchedMin = 64;
const touchedShare = 8;

/** Groups between two pauses, and routes. */
const stride = 1024;

/** Pairs of the routes with these ids. */
function* pairsAmong({ routes, groups }: PairSource, ids: ReadonlySet<string>): Generator<void, RoutePair[]> {
  const pairs: RoutePair[] = [];
  if (ids.size === 0) return pairs;
  const grouped = new Set<string>();
  let looks = 0;
  for (const group of groups) {
    const listed = new Set<string>();
    const { routeIds = [] } = group;
    looks += routeIds.length;
    if (routeIds.some((id) => ids.has(id))) {
      for (const id of routeIds) {
        const position = listed.size;
        if (listed.has(id)) continue;
        listed.add(id);
        const route = ids.has(id) ? routeOf(routes, id) : undefined;
        if (route === undefined) continue;
        grouped.add(id);
        pairs.push({ route, group, position });
      }
    }
    if (looks < stride) continue;
    looks = 0;
    yield;
  }
  for (const id of ids) {
    const route = grouped.has(id) ? undefined : routeOf(routes, id);
    if (route !== undefined) pairs.push({ route, group: undefined, position: 0 });
  }
  return pairs;
}

function routeOf(routes: readonly Route[], id: string): Route | undefined {
  let low = 0;
  let high = routes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((routes[middle]?.id ?? '') < id) low = middle + 1;
    else high = middle;
  }
  return routes[low]?.id === id ? routes[low] : undefined;
}

/** Lists that are known to ascend strictly; lists never change. */
const ascending = new WeakSet<readonly Route[]>();

function* ascends(routes: readonly Route[]): Generator<void, boolean> {
  if (ascending.has(routes)) return true;
  for (let at = 1; at < routes.length; at++) {
    if ((routes[at - 1]?.id ?? '') >= (routes[at]?.id ?? '')) return false;
    if (at % stride === 0) yield;
  }
  ascending.add(routes);
  return true;
}

/** A list that ascended does so after these edits. */
function ascendsStill(next: readonly Route[], edits: readonly ListEdit<Route>[]): boolean {
  let shift = 0;
  for (const { at, removed, inserted } of edits) {
    const from = at + shift;
    for (let place = Math.max(1, from); place <= from + inserted.length && place < next.length; place++) {
      if ((next[place - 1]?.id ?? '') >= (next[place]?.id ?? '')) return false;
    }
    shift += inserted.length - removed.length;
  }
  return true;
}
