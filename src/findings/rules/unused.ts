// unused: entities that nothing refers to.

import type { ConfigKind } from '../../model/kinds.ts';
import { listOf } from '../../model/proxy-config.ts';
import { idsOf, places } from '../../snapshot/dangling.ts';
import { addIds } from '../../snapshot/referenced-ids.ts';
import { placeIn, type RawFinding } from '../finding.ts';
import type { Subject } from '../subject.ts';

export function* unusedEntities(subject: Subject): Generator<void, readonly RawFinding[]> {
  const { configuration } = subject;
  const used = new Map<ConfigKind, Set<string>>();
  for (const { in: kind, path, to } of places) {
    const ids = used.get(to) ?? new Set<string>();
    used.set(to, ids);
    for (const entity of listOf(configuration, kind)) {
      addIds(entity, path, ids);
      if (subject.isPause()) yield;
    }
  }
  const found: RawFinding[] = [];
  for (const kind of ['destinations', 'middlewares'] as const)
    for (const entity of listOf(configuration, kind)) {
      if (subject.isPause()) yield;
      if (used.get(kind)?.has(entity.id) !== true)
        found.push({ ...told, ...placeIn(kind, entity), message: `nothing refers to "${entity.name}"` });
    }
  if (configuration.groups.length === 0) return found;
  const routes = yield* idsOf(configuration.routes);
  for (const group of configuration.groups) {
    if (subject.isPause()) yield;
    if (!(group.routeIds ?? []).some((id) => routes.has(id)))
      found.push({ ...told, ...placeIn('groups', group, '/routeIds'), message: `group "${group.name}" has no route` });
  }
  return found;
}

const told = { severity: 'info', witness: null, because: [] } as const;
