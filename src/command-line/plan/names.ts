// Names in the place of ids, for people and for files: the reverse of references.ts.
import type { EditableKind } from '../../model/kinds.ts';
import { places } from '../../snapshot/dangling.ts';
import type { Entity } from '../entities.ts';
import type { ClusterState } from './cluster-state.ts';
import { mapped } from './references.ts';

const tables = new WeakMap<ClusterState, Map<EditableKind, ReadonlyMap<string, string>>>();

/** Returns the resource with names in its references, where a name means that resource and no other. */
export function withNames(kind: EditableKind, entity: Entity, state: ClusterState): Entity {
  let result: unknown = entity;
  for (const place of places) {
    if (place.in !== kind) continue;
    const names = namesOf(place.to, state);
    result = mapped(result, place.path, [], (text) => nameIn(names, text));
  }
  const { middlewareOverrides } = result as Entity;
  if (typeof middlewareOverrides !== 'object' || middlewareOverrides === null) return result as Entity;
  const names = namesOf('middlewares', state);
  const entries = Object.entries(middlewareOverrides).map(([id, value]) => [names.get(id) ?? id, value]);
  return { ...(result as Entity), middlewareOverrides: Object.fromEntries(entries) };
}

function nameIn(names: ReadonlyMap<string, string>, text: string): string {
  const own = names.get(text);
  const slash = text.lastIndexOf('/');
  if (own !== undefined || slash < 0) return own ?? text;
  const owner = names.get(text.slice(0, slash));
  return owner === undefined ? text : owner + text.slice(slash);
}

function namesOf(kind: EditableKind, state: ClusterState): ReadonlyMap<string, string> {
  const known = tables.get(state) ?? new Map<EditableKind, ReadonlyMap<string, string>>();
  tables.set(state, known);
  const found = known.get(kind);
  if (found !== undefined) return found;
  const all = state.entities[kind] ?? [];
  const ids = new Set(all.map(({ id }) => id));
  // A name that another resource has as its id would mean that one; one with a reference to a secret is no plain text.
  const plain = all.filter(({ id, name }) => (name === id || !ids.has(name)) && !name.includes('{{'));
  const names = new Map(plain.map(({ id, name }) => [id, name]));
  known.set(kind, names);
  return names;
}
