// Content of an entity without the fields that only its maintainers look at: two entities with the same content serve alike.
import type { Entity } from './entity.ts';

/** JSON of all fields but owner and labels. */
export function contentOf(entity: Entity): string {
  const { owner, labels } = entity;
  const isPlain = owner === undefined && labels === undefined;
  return JSON.stringify(isPlain ? entity : { ...entity, owner: undefined, labels: undefined });
}
