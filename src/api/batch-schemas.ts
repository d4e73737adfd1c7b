// Schemas of `POST /batch` and `POST /batch/large` for the OpenAPI document.

import { BatchSnapshotRequest } from '../model/activation-request.ts';
import { type BatchLimits, batchLimits, largeBatchLimits } from '../model/batch-limits.ts';
import { allOf, anyOf, type Constraint, has, hasOrLacks, noneOf, whenever } from '../model/constraint.ts';
import { idPattern } from '../model/id.ts';
import { type EditableKind, editableKinds, nounOf } from '../model/kinds.ts';
import { ifMatchPattern, schemaRef } from '../resources/operation.ts';
import type { ComponentSchemas } from './component-schemas.ts';

const kind = { type: 'string', enum: [...editableKinds], description: 'The kind of resource.' };
const id = { type: 'string', description: 'Id of the resource.' } as const;
const sentId = { ...id, pattern: idPattern.source } as const;

/** Constraints of operations: the kind determines the body, the operation the required fields. */
const bodies = editableKinds.map((kind: EditableKind): Constraint => {
  const noun = nounOf(kind);
  return allOf(has('kind', kind), {
    properties: { body: schemaRef(noun.charAt(0).toUpperCase() + noun.slice(1)) },
  });
});
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
const operationRules = [anyOf(...bodies), anyOf(...forms)];

/** Pruning and keeping are in the name of an owner. */
const keeps: Constraint = { required: ['snapshot'], properties: { snapshot: { type: 'object', required: ['keep'] } } };
const requestRules = [whenever(has('prune'), has('owner')), whenever(keeps, has('owner'))];

const requestOf = ({ operations }: BatchLimits, description: string): ComponentSchemas[string] => ({
  type: 'object',
  description,
  required: ['operations'],
  allOf: [...requestRules],
  properties: {
    operations: {
      type: 'array',
      maxItems: operations,
      items: { $ref: '#/components/schemas/BatchOperation' },
      description: 'In order; each resource at most once.',
    },
    snapshot: {
      allOf: [schemaRef(BatchSnapshotRequest.name)],
      description: 'Captured in the same commit, of the state after the operations.',
    },
    owner: {
      type: 'string',
      minLength: 1,
      description: 'Who writes: owner of what has none, and not warned about what it maintains.',
    },
    prune: {
      oneOf: [
        { type: 'boolean', description: 'True: the kinds that the operations name.' },
        { type: 'array', items: kind },
      ],
      description: 'Kinds of which everything is deleted that `owner` has and no operation names.',
    },
  },
});

const index = { type: 'integer', description: 'Log index of all of it; absent in a dry run.' } as const;

/** Fields of both answers. */
const answerOfBoth: ComponentSchemas = {
  pruned: {
    type: 'array',
    description: 'What was deleted because no operation named it; absent without `prune`.',
    items: { type: 'object', required: ['kind', 'id'], properties: { kind, id } },
  },
  entities: {
    allOf: [schemaRef('EntityDifference')],
    description: 'What would change, field by field; only in a dry run.',
  },
  convergence: {
    allOf: [schemaRef('Convergence')],
    description: 'How many proxies have it; only with `snapshot.wait`.',
  },
  snapshot: {
    allOf: [{ $ref: '#/components/schemas/SnapshotSummary' }],
    description: 'The snapshot; absent when none was asked for.',
  },
  warnings: {
    type: 'array',
    items: { $ref: '#/components/schemas/SnapshotWarning' },
    description:
      'Changes of what another owner maintains, and what is doubtful about the snapshot, as its creation would list ' +
      'it; of a dry run, about the one that would be.',
  },
  problems: {
    type: 'array',
    items: { $ref: '#/components/schemas/SnapshotWarning' },
    description: 'What would keep a snapshot from being made; only in a dry run.',
  },
};

export const batchSchemas: ComponentSchemas = {
  BatchOperation: {
    type: 'object',
    description: 'One write.',
    required: ['op', 'kind'],
    properties: {
      op: {
        type: 'string',
        enum: ['create', 'update', 'upsert', 'delete'],
        description:
          '`create` is refused when the resource is there (409), `update` and `delete` when it is not (404); an ' +
          '`upsert` creates or updates, and writes nothing when nothing would change.',
      },
      kind,
      by: {
        type: 'string',
        enum: ['id', 'name'],
        default: 'id',
        description: 'How `update`, `upsert` and `delete` find the resource.',
      },
      id: sentId,
      name: {
        type: 'string',
        minLength: 1,
        description: 'Of the resource that a `delete` by name means. Beside a body: the name in it.',
      },
      // Open, so that generated types let the body of its kind in.
      body: {
        type: 'object',
        additionalProperties: true,
        description: 'The resource, as in the operation of its kind.',
      },
      ifMatch: {
        type: 'string',
        pattern: ifMatchPattern,
        description: 'Quoted revisions, or `*`; another revision refuses the batch (412).',
      },
      missingOk: { type: 'boolean', default: false, description: 'A `delete` that finds nothing is no failure.' },
    },
    allOf: [...operationRules],
  },
  BatchRequest: requestOf(batchLimits, 'Writes that take effect together.'),
  LargeBatchRequest: requestOf(largeBatchLimits, 'Very many writes that take effect together.'),
  BatchAnswer: {
    type: 'object',
    description: 'What became of a batch.',
    required: ['results'],
    properties: {
      index,
      results: {
        type: 'array',
        description: 'One for each operation, in order.',
        items: {
          type: 'object',
          required: ['kind', 'id'],
          properties: {
            op: { type: 'string', description: 'As sent; absent in a dry run.' },
            action: {
              type: 'string',
              enum: ['create', 'update', 'delete', 'none'],
              description: 'What would happen; only in a dry run.',
            },
            kind,
            id,
            etag: { type: 'string', nullable: true, description: 'Quoted revision; null when it is gone.' },
            changed: { type: 'boolean', description: 'Whether anything was written.' },
            changes: {
              type: 'array',
              items: { type: 'string' },
              description: 'JSON pointers of what an update would change; only in a dry run.',
            },
          },
        },
      },
      ...answerOfBoth,
    },
  },
  LargeBatchAnswer: {
    type: 'object',
    description: 'What became of a large batch.',
    required: ['changed'],
    properties: {
      index,
      changed: { type: 'integer', description: 'Number of operations that changed something, or would.' },
      ...answerOfBoth,
    },
  },
};
