// Differences of two configurations by entities, and edits that are not live yet.
import { anything, integer, list, nullable, object, oneOf, text } from '../json-type.ts';
import { type EditableKind, editableKinds } from '../kinds.ts';
import { Component, Optional, Required } from '../property.ts';

/** Entity by kind and id. */
export class EntityKey {
  @Required(oneOf(editableKinds), 'The kind of resource.')
  readonly kind!: EditableKind;

  @Required(text, 'Id of the resource.')
  readonly id!: string;
}

export class ChangedName extends EntityKey {
  @Required(text, 'Its name.')
  readonly name!: string;

  @Optional(text, 'Absent where it has none.')
  readonly owner?: string;
}

export class FieldChange {
  /** An element of a list stands at its place in the new list, a removed one at its old place. */
  @Required(text, 'JSON pointer within the entity.')
  readonly pointer!: string;

  @Required(anything, 'Any JSON; null where the field is not there.')
  readonly from!: unknown;

  @Required(anything, 'Any JSON; null where the field is not there.')
  readonly to!: unknown;
}

export class ChangedEntity extends ChangedName {
  @Required(
    list(object(FieldChange)),
    'Field by field. References to secrets stand as they are written, values of secrets are `***`.',
  )
  readonly changes!: readonly FieldChange[];
}

@Component('Difference of two configurations.')
export class EntityDifference {
  @Required(list(object(ChangedName)), 'Only in the second.')
  readonly created!: readonly ChangedName[];

  @Required(list(object(ChangedEntity)), 'In both, and not alike.')
  readonly changed!: readonly ChangedEntity[];

  @Required(list(object(ChangedName)), 'Only in the first.')
  readonly deleted!: readonly ChangedName[];
}

/** Snapshot that is live. */
export class LiveSnapshot {
  @Required(text, 'Id of the resource.')
  readonly id!: string;

  @Required(text, 'Its name.')
  readonly name!: string;

  @Required(integer, 'Log index of its activation.')
  readonly index!: number;
}

@Component('Edits that are not live yet.')
export class StagedDifference {
  @Required(integer, 'Log index of the state that was read.')
  readonly index!: number;

  @Required(nullable(object(LiveSnapshot)), 'The snapshot that is live; null when there is none.')
  readonly active!: LiveSnapshot | null;

  @Required(object(EntityDifference), 'From the live configuration to the staged one.')
  readonly entities!: EntityDifference;
}

@Component('Resources that are staged again as they are live.')
export class Discarded {
  @Required(integer, 'Log index of it.')
  readonly index!: number;

  @Required(list(object(EntityKey)), 'Empty when nothing was edited.')
  readonly discarded!: readonly EntityKey[];
}
