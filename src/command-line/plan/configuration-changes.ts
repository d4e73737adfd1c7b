// Changes from one configuration to another, by id.
import { isDeepStrictEqual } from 'node:util';
import { editableKinds } from '../../model/kinds.ts';
import type { ClusterState } from './cluster-state.ts';
import type { Change } from './plan.ts';

export async function changesBetween(from: ClusterState, to: ClusterState): Promise<Change[]> {
  const { changesTo } = await import('../checks.ts');
  return editableKinds.flatMap((kind): Change[] => {
    const before = new Map((from.entities[kind] ?? []).map((entity) => [entity.id, entity]));
    const after = to.entities[kind] ?? [];
    const kept = new Set(after.map(({ id }) => id));
    const written = after.flatMap((entity): Change[] => {
      const { id, name, owner } = entity;
      const old = before.get(id);
      if (old === undefined) return [{ is: 'created', kind, id, name, owner, entity }];
      if (isDeepStrictEqual(old, entity)) return [];
      const changes = changesTo(kind, old, entity);
      return changes.length === 0 ? [] : [{ is: 'changed', kind, id, name, owner, entity, changes }];
    });
    const gone = [...before.values()].filter(({ id }) => !kept.has(id));
    return [...written, ...gone.map(({ id, name, owner }): Change => ({ is: 'deleted', kind, id, name, owner }))];
  });
}
