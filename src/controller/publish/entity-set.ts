// Entities that Sluice is to have, by who wants them. Several objects may want the same one: a destination is there while
// any of them does.
import { canonicalText } from '../graph/canonical-text.ts';
import type { Entity } from '../graph/facts.ts';

export const entityKey = ({ kind, body }: Entity): string => `${kind}/${body.id}`;

/** Text by which entities are compared. */
export const entityText = ({ body }: Pick<Entity, 'body'>): string => canonicalText(body);

interface Wanted {
  entity: Entity;
  text: string;
  readonly holders: Set<string>;
}

export class EntitySet {
  readonly #wanted = new Map<string, Wanted>();
  readonly #held = new Map<string, readonly string[]>();

  get(key: string): { readonly entity: Entity; readonly text: string } | undefined {
    return this.#wanted.get(key);
  }

  get size(): number {
    return this.#wanted.size;
  }

  keys(): Iterable<string> {
    return this.#wanted.keys();
  }

  /** Keys of the entities of a holder. */
  heldBy(holder: string): readonly string[] {
    return this.#held.get(holder) ?? [];
  }

  holdersOf(key: string): readonly string[] {
    return [...(this.#wanted.get(key)?.holders ?? [])];
  }

  /** Replaces the entities of a holder, and returns the keys of those that are different now. */
  put(holder: string, entities: readonly Entity[]): string[] {
    const changed = new Set<string>();
    const keys = new Set(entities.map(entityKey));
    for (const key of this.heldBy(holder)) if (!keys.has(key) && this.#release(key, holder)) changed.add(key);
    for (const entity of entities) if (this.#hold(entity, holder)) changed.add(entityKey(entity));
    if (keys.size === 0) this.#held.delete(holder);
    else this.#held.set(holder, [...keys]);
    return [...changed];
  }

  #hold(entity: Entity, holder: string): boolean {
    const key = entityKey(entity);
    const text = entityText(entity);
    const before = this.#wanted.get(key);
    if (before === undefined) {
      this.#wanted.set(key, { entity, text, holders: new Set([holder]) });
      return true;
    }
    before.holders.add(holder);
    if (before.text === text) return false;
    before.entity = entity;
    before.text = text;
    return true;
  }

  #release(key: string, holder: string): boolean {
    const wanted = this.#wanted.get(key);
    wanted?.holders.delete(holder);
    if (wanted === undefined || wanted.holders.size > 0) return false;
    this.#wanted.delete(key);
    return true;
  }
}
