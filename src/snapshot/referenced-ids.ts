// Ids that an entity holds of entities of another kind.
import type { ConfigKind } from '../model/kinds.ts';
import { places } from './dangling.ts';

/** Returns the ids of entities of a kind that an entity of another kind refers to. */
export function referencedIds(entity: object, kind: ConfigKind, to: ConfigKind): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const place of places) if (place.in === kind && place.to === to) addIds(entity, place.path, ids);
  return ids;
}

/** Adds the texts at a path, from a step on. */
export function addIds(value: unknown, path: readonly string[], ids: Set<string>, at = 0): void {
  const step = path[at];
  if (step === undefined) {
    if (typeof value === 'string') ids.add(value);
  } else if (step === '*') {
    if (Array.isArray(value)) for (const each of value) addIds(each, path, ids, at + 1);
  } else if (typeof value === 'object' && value !== null) addIds(Reflect.get(value, step), path, ids, at + 1);
}
