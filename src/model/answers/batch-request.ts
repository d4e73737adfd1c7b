// Body of `POST /batch` and `POST /batch/large`: many writes that take effect together.
import { BatchSnapshotRequest } from '../activation-request.ts';
import { batchLimits, largeBatchLimits } from '../batch-limits.ts';
import { type JsonSchema, recordProperty, schemaOfClass } from '../class-schema.ts';
import { editableClasses } from '../config-classes.ts';
import { allOf, anyOf, type Constraint, has, hasOrLacks, noneOf, whenever } from '../constraint.ts';
import { idPattern } from '../id.ts';
import { asPart, component, discriminated, either, flag, limited, list, object, oneOf, text } from '../json-type.ts';
import { type EditableKind, editableKinds } from '../kinds.ts';
import { ifMatchPattern } from '../pattern.ts';
import { Component, Optional, Required } from '../property.ts';
import type { Class } from '../schema.ts';

/** Constraints of operations: the operation determines the required fields. */
const hasBodyWithId: Constraint = {
  required: ['body'],
  properties: { body: { type: 'object', required: ['id'] } },
};
const changes = has('op', 'update', 'upsert');
const removes = allOf(has('op', 'delete'), noneOf(has('body')));
const forms: readonly Constraint[] = [
  allOf(has('op', 'create'), has('body')),
  allOf(changes, hasOrLacks('by', 'id'), has('id'), has('body')),
  allOf(changes, hasOrLacks('by', 'id'), hasBodyWithId),
  allOf(has('op', 'upsert'), has('by', 'name'), has('body')),
  allOf(has('op', 'update'), has('by', 'name'), has('body'), noneOf(has('id'))),
  allOf(removes, hasOrLacks('by', 'id'), has('id'), noneOf(has('name'))),
  allOf(removes, has('by', 'name'), has('name'), noneOf(has('id'))),
];

const batchOps = ['create', 'update', 'upsert', 'delete'] as const;
export const kindOfResource = limited(oneOf(editableKinds), { description: 'The kind of resource.' });

/** One write. */
interface SentBatchOperation extends WriteOptions {
  readonly kind: EditableKind;
  readonly body?: object;
}

class WriteOptions {
  @Required(
    oneOf(batchOps),
    '`create` is refused when the resource is there (409), `update` and `delete` when it is not (404); an ' +
      '`upsert` creates or updates, and writes nothing when nothing would change.',
  )
  readonly op!: (typeof batchOps)[number];

  @Optional(oneOf(['id', 'name']), 'How `update`, `upsert` and `delete` find the resource.', { default: 'id' })
  readonly by?: 'id' | 'name';

  @Optional(limited(text, { pattern: idPattern.source }), 'Id of the resource.')
  readonly id?: string;

  @Optional(
    limited(text, { minLength: 1 }),
    'Of the resource that a `delete` by name means. Beside a body: the name in it.',
  )
  readonly name?: string;

  @Optional(
    limited(text, { pattern: ifMatchPattern }),
    'Quoted revisions, or `*`; another revision refuses the batch (412).',
  )
  readonly ifMatch?: string;

  @Optional(flag, 'A `delete` that finds nothing is no failure.', { default: false })
  readonly missingOk?: boolean;
}

/** Returns the class of operations on resources of the kind, which determines their body. */
function operationOn(kind: EditableKind): Class<SentBatchOperation> {
  const resource = editableClasses[kind];
  const description = 'The resource, as in the operation of its kind.';
  const body = (): JsonSchema => ({ ...asPart(schemaOfClass(resource)), description });
  class Operation extends WriteOptions {}
  recordProperty(Operation, {
    name: 'kind',
    isRequired: true,
    schema: limited(kindOfResource, { enum: [kind] }).schema,
  });
  recordProperty(Operation, { name: 'body', isRequired: false, schema: body });
  Component(`A write of one of the ${kind}.`, { as: `${resource.name}Operation`, allOf: [anyOf(...forms)] })(Operation);
  return Operation as Class<SentBatchOperation>;
}

const operation = component<SentBatchOperation>(
  'BatchOperation',
  limited(discriminated('kind', Object.fromEntries(editableKinds.map((kind) => [kind, operationOn(kind)]))), {
    description: 'One write.',
  }),
);

/** Pruning and keeping are in the name of an owner. */
const keeps: Constraint = { required: ['snapshot'], properties: { snapshot: { type: 'object', required: ['keep'] } } };
const rules = [whenever(has('prune'), has('owner')), whenever(keeps, has('owner'))];

const inOrder = 'In order; each resource at most once.';

class BatchOptions {
  @Optional(object(BatchSnapshotRequest), 'Captured in the same commit, of the state after the operations.')
  readonly snapshot?: BatchSnapshotRequest;

  @Optional(
    limited(text, { minLength: 1 }),
    'Who writes: owner of what has none, and not warned about what it maintains.',
  )
  readonly owner?: string;

  @Optional(
    either(limited(flag, { description: 'True: the kinds that the operations name.' }), list(kindOfResource)),
    'Kinds of which everything is deleted that `owner` has and no operation names.',
  )
  readonly prune?: boolean | readonly EditableKind[];
}

@Component('Writes that take effect together.', { allOf: rules })
export class BatchRequest extends BatchOptions {
  @Required(list(operation, { maxItems: batchLimits.operations }), inOrder)
  readonly operations!: readonly SentBatchOperation[];
}

@Component('Very many writes that take effect together.', { allOf: rules })
export class LargeBatchRequest extends BatchOptions {
  @Required(list(operation, { maxItems: largeBatchLimits.operations }), inOrder)
  readonly operations!: readonly SentBatchOperation[];
}
