// Schemas of rollouts for the OpenAPI document.
import type { ComponentSchemas } from './component-schemas.ts';

const text = (description: string) => ({ type: 'string', description }) as const;
const textOrNull = (description: string) => ({ type: 'string', nullable: true, description }) as const;

export const rolloutSchemas: ComponentSchemas = {
  Rollout: {
    type: 'object',
    description: 'A progressive activation.',
    required: ['id', 'snapshotId', 'state', 'step', 'share', 'steps', 'guards', 'comment', 'events'],
    properties: {
      id: text('Assigned by the server.'),
      snapshotId: text('The candidate.'),
      name: text('Name of the candidate.'),
      sha256: textOrNull('Of the canonical JSON (RFC 8785) of the lists that proxies get.'),
      state: {
        type: 'string',
        enum: ['running', 'paused', 'completed', 'rolledBack', 'aborted'],
        description: 'The last three are final.',
      },
      step: { type: 'integer', minimum: 0, description: 'The step under way, or the last one: its place in `steps`.' },
      share: { type: 'number', description: 'Percent; 0 where labels choose.' },
      steps: {
        type: 'array',
        items: { $ref: '#/components/schemas/RolloutStepRequest' },
        description: 'As planned; the last one is all.',
      },
      by: { type: 'string', enum: ['client', 'proxy'], description: 'What a share is of.' },
      key: {
        allOf: [{ $ref: '#/components/schemas/ShareKeyRequest' }],
        description: 'Which clients stay together.',
      },
      guards: { type: 'array', items: { type: 'string' }, description: 'CEL; all must hold.' },
      minRequests: { type: 'integer', description: 'Requests that a step needs before it ends.' },
      checkInterval: text('How often the guards are checked.'),
      failures: { type: 'integer', description: 'Checks in a row in which a guard is false before it counts.' },
      onFail: { type: 'string', enum: ['rollback', 'pause'], description: 'What becomes of it then.' },
      deadman: text('How long a proxy without contact goes on serving the candidate.'),
      maxStep: text('A step that could not end by then pauses the rollout.'),
      comment: textOrNull('What was said when it was started.'),
      startedBy: textOrNull('Name of the API key.'),
      events: {
        type: 'array',
        description: 'What happened, the oldest first; the last 200.',
        items: {
          type: 'object',
          required: ['at', 'by', 'kind', 'guard', 'values'],
          properties: {
            at: { type: 'string', format: 'date-time', description: 'When, UTC.' },
            by: textOrNull('Name of the API key; null for what the cluster did by itself.'),
            kind: {
              type: 'string',
              enum: [
                'started',
                'step',
                'guard failed',
                'refused',
                'paused',
                'resumed',
                'promoted',
                'aborted',
                'completed',
                'rolledBack',
              ],
              description: 'What.',
            },
            guard: textOrNull('The guard that was false.'),
            values: { type: 'object', nullable: true, description: 'What it saw, or the step that began.' },
          },
        },
      },
    },
  },
};
