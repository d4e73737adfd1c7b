// Schemas of the difference of two configurations for the OpenAPI document.
import { roles } from '../model/api-role.ts';
import { editableKinds } from '../model/kinds.ts';
import { schemaRef } from '../resources/operation.ts';
import type { ComponentSchemas } from './component-schemas.ts';

const kind = { type: 'string', enum: [...editableKinds], description: 'The kind of resource.' };
const id = { type: 'string', description: 'Id of the resource.' };
const changedName = {
  kind,
  id,
  name: { type: 'string', description: 'Its name.' },
  owner: { type: 'string', description: 'Absent where it has none.' },
};
const nameOnly = { type: 'object', required: ['kind', 'id', 'name'], properties: changedName };
const anyValue = { nullable: true, description: 'Any JSON; null where the field is not there.' } as const;

export const differenceSchemas: ComponentSchemas = {
  StagedDifference: {
    type: 'object',
    description: 'Edits that are not live yet.',
    required: ['index', 'active', 'entities'],
    properties: {
      index: { type: 'integer', description: 'Log index of the state that was read.' },
      active: {
        type: 'object',
        nullable: true,
        description: 'The snapshot that is live; null when there is none.',
        properties: {
          id,
          name: { type: 'string', description: 'Its name.' },
          index: { type: 'integer', description: 'Log index of its activation.' },
        },
      },
      entities: {
        allOf: [schemaRef('EntityDifference')],
        description: 'From the live configuration to the staged one.',
      },
    },
  },
  Discarded: {
    type: 'object',
    description: 'Resources that are staged again as they are live.',
    required: ['index', 'discarded'],
    properties: {
      index: { type: 'integer', description: 'Log index of it.' },
      discarded: {
        type: 'array',
        items: { type: 'object', required: ['kind', 'id'], properties: { kind, id } },
        description: 'Empty when nothing was edited.',
      },
    },
  },
  WhoAmI: {
    type: 'object',
    description: 'The caller.',
    required: ['name', 'role', 'may'],
    properties: {
      name: { type: 'string', description: 'Name of the API key; empty without keys.' },
      role: { type: 'string', enum: [...roles], description: 'Role of the API key; admin without keys.' },
      may: {
        type: 'array',
        items: { type: 'string', enum: ['read', 'write', 'administer', 'follow'] },
        description:
          '`read` resources, `write` them and make them live, `administer` the cluster and see values of secrets, ' +
          '`follow` activations as a proxy.',
      },
    },
  },
  EntityDifference: {
    type: 'object',
    description: 'Difference of two configurations.',
    required: ['created', 'changed', 'deleted'],
    properties: {
      created: { type: 'array', items: nameOnly, description: 'Only in the second.' },
      changed: {
        type: 'array',
        description: 'In both, and not alike.',
        items: {
          type: 'object',
          required: ['kind', 'id', 'name', 'changes'],
          properties: {
            ...changedName,
            changes: {
              type: 'array',
              description:
                'Field by field. References to secrets stand as they are written, values of secrets are `***`.',
              items: {
                type: 'object',
                required: ['pointer', 'from', 'to'],
                properties: {
                  pointer: { type: 'string', description: 'JSON pointer within the entity.' },
                  from: anyValue,
                  to: anyValue,
                },
              },
            },
          },
        },
      },
      deleted: { type: 'array', items: nameOnly, description: 'Only in the first.' },
    },
  },
};
