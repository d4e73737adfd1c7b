// unused: entities that nothing refers to.

import type { ConfigKind } from '../../model/kinds.ts';
import { listOf } from '../../model/proxy-config.ts';
import { places } from '../../snapshot/dangling.ts';
import { placeIn, type RawFinding } from '../finding.ts';
import type { Subject } from '../subject.ts';

export function* unusedEntities(subject: Subject): Generator<void, readonly RawFinding[]> {
  const { configuration } = subject;
  const used = new Map<ConfigKind, Set<string>>();
  for (const { in: kind, path, to } of places) {
    const ids = used.get(to) ?? new Set<string>();
    used.set(to, ids);
    for (const entity of listOf(configuration, kind)) {
      addTexts(entity, path, 0, ids);
      if (subject.isPause()) yield;
    }
  }
  const found: RawFinding[] = [];
  for (const kind of ['destinations', 'middlewares'] as const)
    for (const entity of listOf(configuration, kind))
      if (used.get(kind)?.has(entity.id) !== true)
        found.push({ ...told, ...placeIn(kind, entity), message: `nothing refers to "${entity.name}"` });
  yield;
  const routes = new Set(configuration.routes.map(({ id }) => id));
  for (const group of configuration.groups)
    if (!(group.routeIds ?? []).some((id) => routes.has(id)))
      found.push({ ...told, ...placeIn('groups', group, '/routeIds'), message: `group "${group.name}" has no route` });
  return found;
}

const told = { severity: 'info', witness: null, because: [] } as const;

/** Adds the texts at a path, from a step on. */
function addTexts(value: unknown, path: readonly string[], at: number, texts: Set<string>): void {
  const step = path[at];
  if (step === undefined) {
    if (typeof value === 'string') texts.add(value);
  } else if (step === '*') {
    if (Array.isArray(value)) for (const each of value) addTexts(each, path, at + 1, texts);
  } else if (typeof value === 'object' && value !== null) addTexts(Reflect.get(value, step), path, at + 1, texts);
}
