// Body of `POST /staged/discard`: every unfinished edit, those of an owner's entities, or those of named entities.
import { atMostOneOf, has } from './constraint.ts';
import { ListOf, OneOf, Text } from './field.ts';
import { editableKinds } from './kinds.ts';
import { problemIf, Rules } from './rule.ts';

/** Entities that one discard names. */
const entitiesMax = 10_000;
/** Keys of objects that its body may have: two of each entity, and those beside. */
export const discardKeysMax = 3 * entitiesMax;

export class DiscardedEntity {
  @OneOf(editableKinds, 'The kind of resource.', { required: true })
  readonly kind!: string;

  @Text('Id of the resource.', { required: true })
  readonly id!: string;
}

@Rules<DiscardRequest>(
  {
    oneChoice: ({ owner, entities }) =>
      problemIf(owner !== undefined && entities !== undefined, '/entities', 'must not stand beside owner'),
  },
  atMostOneOf(has('owner'), has('entities')),
)
export class DiscardRequest {
  @Text('Only edits of what this owner has, live or staged.')
  readonly owner?: string;

  @ListOf(DiscardedEntity, 'Only edits of these.', { lengthMax: entitiesMax })
  readonly entities?: readonly DiscardedEntity[];
}
