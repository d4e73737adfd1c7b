// Schemas of answers that are no resource of src/model.

import { type ConfigKind, configKinds, nounOf, optionalKinds } from '../model/kinds.ts';
import type { ComponentSchemas } from './component-schemas.ts';

import { explainSchemas } from './explain-schemas.ts';

const id = {
  type: 'string',
  description: 'Assigned by the server.',
  example: '0b0f8a9e-3c53-4a39-9f0b-6d1f5f3c2a11',
} as const;
const name = { type: 'string', minLength: 1, description: 'Unique within the kind.', example: 'release-42' } as const;
const owner = { type: 'string', minLength: 1, description: 'Team or program that maintains it.' } as const;
const labels = {
  type: 'object',
  additionalProperties: { type: 'string' },
  maxProperties: 32,
  description: 'Marks to find it by.',
} as const;
const createdAt = { type: 'string', format: 'date-time', description: 'Time of creation, UTC.' } as const;

const isOptional = (kind: ConfigKind): boolean => optionalKinds.some((each) => each === kind);
const requiredKinds = configKinds.filter((kind) => !isOptional(kind));

const lists = Object.fromEntries(
  configKinds.map((kind) => {
    const noun = nounOf(kind);
    const model = noun.charAt(0).toUpperCase() + noun.slice(1);
    const items = { $ref: `#/components/schemas/${model}` };
    return [
      kind,
      {
        type: 'array',
        items,
        description: `All ${kind}, ascending by id${isOptional(kind) ? '; absent where there are none' : ''}.`,
      },
    ];
  }),
);

const configuration = { $ref: '#/components/schemas/Configuration' };
const snapshot = { allOf: [configuration], description: 'What was captured.' };

export const schemas: ComponentSchemas = {
  ...explainSchemas,
  Error: {
    type: 'object',
    description: 'Every answer that is not a success.',
    required: ['error'],
    properties: {
      error: { type: 'string', description: 'What is wrong, for a person.', example: 'route "a" not found' },
      requestId: { type: 'string', description: 'Names the write whose outcome is unknown (504).' },
      outcome: {
        type: 'string',
        enum: ['not-applied', 'unknown'],
        description: 'What is certain of a write that got no result (503, 504).',
      },
      operation: { type: 'integer', minimum: 0, description: 'Of a refused batch: the first operation that failed.' },
      findings: {
        type: 'array',
        items: { $ref: '#/components/schemas/Finding' },
        description: 'What `failOn` refuses (422).',
      },
    },
  },
  Health: {
    type: 'object',
    description: 'Ok, and nothing else.',
    required: ['status'],
    properties: { status: { type: 'string', enum: ['ok'], description: 'Always `ok`.' } },
  },
  SecretSummary: {
    type: 'object',
    description: 'A secret without its value.',
    required: ['id', 'name'],
    properties: {
      id,
      name,
      owner,
      labels,
      value: { type: 'string', description: 'Only in lists, for `secrets=resolved`.' },
    },
  },
  Configuration: {
    type: 'object',
    description: 'The kinds that a proxy runs.',
    required: requiredKinds,
    properties: lists,
  },
  SnapshotRequest: {
    type: 'object',
    description: 'What a snapshot is created from, beside the staged configuration.',
    required: ['name'],
    properties: { name, owner, labels },
  },
  FullSnapshot: {
    type: 'object',
    description: 'A snapshot with its content.',
    required: ['id', 'name', 'createdAt', 'snapshot'],
    properties: { id, name, owner, labels, createdAt, snapshot },
  },
  SnapshotWarning: {
    type: 'object',
    description: 'Something that will not work as written, and does not keep the rest from being served.',
    required: ['pointer', 'message'],
    properties: {
      pointer: {
        type: 'string',
        description: 'Where: a JSON pointer whose second step is the id of the entity, `/<kind>/<id>/<field>…`.',
        example: '/routes/shop/forward/destinations/0/destinationId',
      },
      message: { type: 'string', description: 'What it is, for a person.' },
    },
  },
  CreatedSnapshot: {
    type: 'object',
    description: 'A new snapshot, and what is doubtful about it.',
    required: ['id', 'name', 'createdAt', 'snapshot', 'warnings'],
    properties: {
      id,
      name,
      owner,
      labels,
      createdAt,
      snapshot,
      warnings: {
        type: 'array',
        items: { $ref: '#/components/schemas/SnapshotWarning' },
        description:
          'Dangling references, listeners that ask for the same port, certificates that cannot be used. Each place once.',
      },
    },
  },
  DebugConfig: {
    type: 'object',
    description: 'The live configuration, which snapshot it is, and the staged one.',
    required: [...requiredKinds, 'snapshot', 'staged'],
    properties: {
      ...lists,
      snapshot: {
        type: 'object',
        nullable: true,
        description: 'The active snapshot; null when there is none.',
        properties: { id, name, createdAt },
      },
      staged: { allOf: [configuration], description: 'As stored, references unresolved.' },
    },
  },
};
