// Schemas of the difference of two configurations for the OpenAPI document.
import { editableKinds } from '../model/kinds.ts';
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
