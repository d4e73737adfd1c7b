// Routes and groups that are bound to different listeners: the route is served nowhere in that group (contract.md §6.3).
import { commonBindings } from '../model/listener-binding.ts';
import { type Problem, pointerOf } from '../model/problem.ts';
import type { Configuration } from '../model/proxy-config.ts';

/** Entities between two pauses. */
const stride = 256;

/** Returns a warning for each such pair, in steps. */
export function* disjointBindings({ routes, groups }: Configuration): Generator<void, Problem[]> {
  const bound = groups.filter(({ listenerIds = [] }) => listenerIds.length > 0);
  if (bound.length === 0) return [];
  const bindings = new Map<string, readonly string[]>();
  for (const [at, { id, listenerIds = [] }] of routes.entries()) {
    if (at % stride === 0) yield;
    if (listenerIds.length > 0) bindings.set(id, listenerIds);
  }
  const warnings: Problem[] = [];
  for (const { id, routeIds = [], listenerIds } of bound) {
    for (const [at, routeId] of routeIds.entries()) {
      if (at % stride === 0) yield;
      const own = bindings.get(routeId);
      if (own === undefined || commonBindings(listenerIds, own)?.length !== 0) continue;
      const message = `names route "${routeId}", which is bound to none of the listeners of this group: it serves nowhere in it`;
      warnings.push({ pointer: pointerOf('groups', id, 'routeIds', at), message });
    }
  }
  return warnings;
}
