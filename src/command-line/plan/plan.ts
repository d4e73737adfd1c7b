// Plan of an apply: what the input means in this cluster, and what has to be created, changed and deleted for it.

import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { FieldChange } from '../../model/answers/entity-difference.ts';
import { fieldChanges } from '../../model/entity-diff.ts';
import { withDefaults } from '../../model/filled-defaults.ts';
import { type EditableKind, editableKinds } from '../../model/kinds.ts';
import { pointerOf } from '../../model/problem.ts';
import { parseEntity } from '../../model/validation.ts';
import type { Entity } from '../entities.ts';
import { type Fault, faultsMax } from '../input/fault.ts';
import { type Input, type InputEntity, subjectOf } from '../input/input-entities.ts';
import { meantField } from '../input/known-fields.ts';
import type { ClusterState } from './cluster-state.ts';
import { NameTable, type NameTables, resolved } from './references.ts';

interface Planned {
  readonly kind: EditableKind;
  readonly id: string;
  readonly name: string;
  readonly owner?: string | undefined;
}

interface Creation extends Planned {
  readonly is: 'created';
  readonly entity: Entity;
}

interface Alteration extends Planned {
  readonly is: 'changed';
  readonly entity: Entity;
  readonly changes: readonly FieldChange[];
}

interface Deletion extends Planned {
  readonly is: 'deleted';
}

export type Change = Creation | Alteration | Deletion;

export interface Plan {
  readonly changes: readonly Change[];
  /** Resources of no owner that become those of the input's. */
  readonly adopted: readonly Planned[];
  readonly faults: readonly Fault[];
  /** Resources that the owners of the input have, of its kinds. */
  readonly owned: number;
  /** Resources of the input, as they will be. */
  readonly entities: readonly { readonly kind: EditableKind; readonly entity: Entity }[];
}

export interface PlanOptions {
  /** Resources of other owners are changed, too. */
  readonly adopt: boolean;
  /** Kinds whose references need not lead anywhere: the rest is not known. */
  readonly isPartial?: boolean;
}

export function planOf(input: Input, state: ClusterState, { adopt }: PlanOptions): Plan {
  const planner = new Planner(input, state, adopt);
  for (const entity of input.entities) planner.entity(entity);
  const deletions = planner.deletions();
  return {
    changes: [...planner.changes, ...deletions],
    adopted: planner.adopted,
    faults: [...input.faults, ...planner.faults].slice(0, faultsMax),
    owned: planner.owned,
    entities: planner.entities,
  };
}

const idGrammar = /^[A-Za-z0-9._~:-]{1,128}$/;

class Planner {
  readonly changes: Change[] = [];
  readonly adopted: Planned[] = [];
  readonly faults: Fault[] = [];
  readonly entities: { kind: EditableKind; entity: Entity }[] = [];
  readonly #input: Input;
  readonly #adopt: boolean;
  readonly #state: ClusterState;
  readonly #byId = new Map<string, Entity>();
  readonly #byName = new Map<string, Entity>();
  readonly #ids = new Map<InputEntity, string>();
  readonly #tables: NameTables;

  constructor(input: Input, state: ClusterState, adopt: boolean) {
    this.#input = input;
    this.#state = state;
    this.#adopt = adopt;
    for (const kind of editableKinds)
      for (const entity of state.entities[kind] ?? []) {
        this.#byId.set(`${kind} ${entity.id}`, entity);
        this.#byName.set(`${kind} ${entity.name}`, entity);
      }
    this.#chooseIds();
    this.#tables = this.#namesOfAll();
  }

  /** A resource keeps its id; a new one has that of the input, else its name where that may be an id. */
  #chooseIds(): void {
    const taken = new Set(this.#byId.keys());
    for (const each of this.#input.entities) {
      const { id } = each.fields;
      if (typeof id === 'string' && id !== '') taken.add(`${each.kind} ${id}`);
    }
    for (const each of this.#input.entities) {
      const { kind, name, fields } = each;
      const given =
        typeof fields.id === 'string' && fields.id !== '' ? fields.id : this.#byName.get(`${kind} ${name}`)?.id;
      const mayBeId = idGrammar.test(name) && !taken.has(`${kind} ${name}`);
      const id = given ?? (mayBeId ? name : randomUUID());
      taken.add(`${kind} ${id}`);
      this.#ids.set(each, id);
    }
  }

  #namesOfAll(): NameTables {
    const tables = Object.fromEntries(editableKinds.map((kind) => [kind, new NameTable()])) as Record<
      EditableKind,
      NameTable
    >;
    for (const [entity, id] of this.#ids) tables[entity.kind].add(id, entity.name);
    for (const kind of editableKinds)
      for (const { id, name } of this.#state.entities[kind] ?? []) tables[kind].add(id, name);
    return tables;
  }

  entity(each: InputEntity): void {
    const { kind, name, fields } = each;
    const id = this.#ids.get(each) ?? '';
    const before = this.#byId.get(`${kind} ${id}`);
    const namesake = this.#byName.get(`${kind} ${name}`);
    if (
      namesake !== undefined &&
      namesake.id !== id &&
      ![...this.#ids].some(([other, otherId]) => otherId === namesake.id && other.kind === kind)
    )
      this.#fault(each, '/name', `belongs to the ${kind.slice(0, -1)} with id ${namesake.id}`);
    const body = resolved(kind, { ...fields, id }, this.#tables, (segments, message, text) => {
      if (!standsAt(before, segments, text)) this.#fault(each, pointerOf(...segments), message);
    });
    // A stored entity was valid when it was written.
    const same = { ...keptOf(before), ...body };
    if (kind !== 'secrets' && isDeepStrictEqual(same, before)) {
      this.entities.push({ kind, entity: same as Entity });
      return;
    }
    const { entity: parsed, problems, unknown } = parseEntity(kind, body);
    for (const { pointer, message } of problems) this.#fault(each, pointer, message);
    for (const pointer of unknown) this.#fault(each, pointer, `is not a known field${meantField(kind, pointer)}`);
    if (problems.length > 0) return;
    const entity = { ...keptOf(before), ...parsed, id } as Entity;
    // Values of secrets are not told: the server finds out.
    const changes = before === undefined || kind === 'secrets' ? [] : changesTo(kind, before, entity);
    const isSame = before !== undefined && kind !== 'secrets' && changes.length === 0;
    this.entities.push({ kind, entity: isSame ? before : entity });
    if (!isSame) this.#change(each, entity, before, changes);
  }

  #change(each: InputEntity, entity: Entity, before: Entity | undefined, changes: readonly FieldChange[]): void {
    const { kind, name } = each;
    const { id, owner } = entity;
    if (before === undefined) {
      this.changes.push({ is: 'created', kind, id, name, owner, entity });
      return;
    }
    const wanted = typeof each.fields.owner === 'string' ? each.fields.owner : undefined;
    if (before.owner !== undefined && before.owner !== wanted && !this.#adopt) {
      this.#fault(each, '', `is owned by ${before.owner}: --adopt takes it over`);
      return;
    }
    if (before.owner === undefined && owner !== undefined) this.adopted.push({ kind, id, name, owner });
    this.changes.push({ is: 'changed', kind, id, name, owner, entity, changes });
  }

  /** Resources of the input's owners that it lacks, of the kinds that appear in it. */
  deletions(): Deletion[] {
    const present = new Set([...this.#ids].map(([{ kind }, id]) => `${kind} ${id}`));
    return this.#ofOwners().flatMap(({ kind, id, name, owner }) =>
      present.has(`${kind} ${id}`) ? [] : [{ is: 'deleted', kind, id, name, owner }],
    );
  }

  get owned(): number {
    return this.#ofOwners().length;
  }

  #ofOwners(): Planned[] {
    const { owners, kinds } = this.#input;
    return [...kinds].flatMap((kind) =>
      (this.#state.entities[kind] ?? [])
        .filter(({ owner }) => owner !== undefined && owners.has(owner))
        .map(({ id, name, owner }) => ({ kind, id, name, owner })),
    );
  }

  #fault(each: InputEntity, pointer: string, message: string): void {
    if (this.faults.length >= faultsMax) return;
    this.faults.push({ place: each.placeOf(pointer), subject: subjectOf(each), pointer, message });
  }
}

/** Fields that differ, defaults filled in: one that is spelled is one that is left out. */
export const changesTo = (kind: EditableKind, before: Entity, after: Entity): readonly FieldChange[] =>
  fieldChanges(withDefaults(kind, before), withDefaults(kind, after));

/** Fields that an update keeps where it leaves them out. */
function keptOf(before: Entity | undefined): Pick<Entity, 'owner' | 'labels'> {
  const { owner, labels } = before ?? {};
  return { ...(owner !== undefined && { owner }), ...(labels !== undefined && { labels }) };
}

/** Returns whether the resource in the cluster has that text there already: it leads nowhere there, too. */
function standsAt(before: Entity | undefined, segments: readonly (string | number)[], text: string): boolean {
  let value: unknown = before;
  for (const segment of segments) {
    if (typeof value !== 'object' || value === null) return false;
    value = (value as Readonly<Record<string, unknown>>)[segment];
  }
  return typeof value === 'string' && value.includes(text);
}
