// References between resources, by the names of the fields that hold them.
import type { EditedKind, Entity } from './types.ts';

const lists: Partial<Record<EditedKind, RegExp>> = {
  destinations: /^(\w+D|d)estinationId$/,
  middlewares: /^middlewareIds$/,
  routes: /^routeIds$/,
  listeners: /^listenerIds$/,
};

/** Returns whether a resource refers to the one of that kind with that id. */
export function refersTo(entity: Entity, kind: EditedKind, id: string): boolean {
  if (kind === 'secrets') return secretsOf(entity).has(id);
  const field = lists[kind];
  const isNamed = (value: unknown): boolean =>
    typeof value === 'string' && (value === id || (kind === 'listeners' && value.startsWith(`${id}/`)));
  const holds = (value: unknown, name: string): boolean => {
    if (field?.test(name) === true && [value].flat().some(isNamed)) return true;
    if (Array.isArray(value)) return value.some((each) => holds(each, ''));
    return typeof value === 'object' && value !== null && Object.entries(value).some(([key, each]) => holds(each, key));
  };
  return holds(entity, '');
}

/** Returns the ids of the secrets that a resource refers to, each once. */
export function secretsOf(entity: Entity): ReadonlySet<string> {
  const found = new Set<string>();
  const look = (value: unknown, name: string): void => {
    if (typeof value === 'string') {
      for (const [, id = ''] of value.matchAll(reference)) found.add(id);
      if (name === 'secret') found.add(value);
    } else if (Array.isArray(value)) for (const each of value) look(each, '');
    else if (typeof value === 'object' && value !== null)
      for (const [key, each] of Object.entries(value)) look(each, key);
  };
  look(entity, '');
  return found;
}

const reference = /\{\{secret:value:([^}]+)\}\}/g;
