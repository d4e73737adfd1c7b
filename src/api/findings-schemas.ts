// Schemas of `GET /findings` for the OpenAPI document.
import { severities } from '../model/severity.ts';
import { schemaRef } from '../resources/operation.ts';
import type { ComponentSchemas } from './component-schemas.ts';

const text = (description: string) => ({ type: 'string', description }) as const;
const count = (description: string) => ({ type: 'integer', minimum: 0, description }) as const;

const place = {
  kind: text('Kind of the entity.'),
  id: text('Its id.'),
  name: text('Its name.'),
  pointer: text('JSON pointer within the entity; empty for the whole.'),
};

export const findingsSchemas: ComponentSchemas = {
  Finding: {
    type: 'object',
    description: 'One thing that is wrong for certain.',
    required: ['rule', 'severity', 'kind', 'id', 'name', 'pointer', 'message', 'witness', 'because'],
    properties: {
      rule: text('Name of the rule, such as `unreachable-route`.'),
      severity: { type: 'string', enum: [...severities], description: 'How grave it is.' },
      ...place,
      message: text('What is wrong, for a person.'),
      witness: {
        nullable: true,
        description:
          'A request that shows it, as `POST /explain` takes it; two for `rewrite-loses-path`. Null where there is none, or where it would hold a secret.',
        oneOf: [
          { type: 'object', additionalProperties: true },
          { type: 'array', items: { type: 'object', additionalProperties: true } },
        ],
      },
      because: {
        type: 'array',
        description: 'Entities that are the reason.',
        items: { type: 'object', required: ['kind', 'id', 'name', 'pointer'], properties: place },
      },
    },
  },
  Findings: {
    type: 'object',
    description: 'What is wrong with a configuration.',
    required: ['of', 'index', 'findings', 'counts', 'tookMs'],
    properties: {
      of: text('`staged`, `active` or the id of the snapshot, as it was asked for.'),
      index: { type: 'integer', description: 'Log index of the state that was read.' },
      findings: { type: 'array', items: schemaRef('Finding'), description: 'In the order of the rules.' },
      counts: {
        type: 'object',
        description: 'Findings by severity.',
        required: [...severities],
        properties: Object.fromEntries(severities.map((each) => [each, count(`Those of severity ${each}.`)])),
      },
      tookMs: count('Milliseconds that it took.'),
    },
  },
};
