// Schemas of rollouts for the OpenAPI document.
import { shadowKinds } from '../model/shadow.ts';
import type { ComponentSchemas } from './component-schemas.ts';

const text = (description: string) => ({ type: 'string', description }) as const;
const textOrNull = (description: string) => ({ type: 'string', nullable: true, description }) as const;

const count = (description: string) => ({ type: 'integer', minimum: 0, description }) as const;
const named = (description: string) => ({
  type: 'object' as const,
  nullable: true,
  description,
  required: ['id', 'name'],
  properties: { id: text('Id.'), name: text('Name.') },
});
const texts = (description: string) => ({ type: 'array', items: { type: 'string' }, description }) as const;

const counts = {
  requests: count('Requests that were compared.'),
  same: count('Without a difference.'),
  moved: count('With another route, group, chain of middlewares, destination, target or request field.'),
  lost: count('Had a route, would get none.'),
  gained: count('Had no route, would get one.'),
  answersChanged: count('With another redirect, answer or response field of Sluice.'),
  rejectedMore: count('Passed, would be rejected.'),
  rejectedLess: count('Were rejected, would pass.'),
  undecided: count('Further requests, of which the body or a key was not there.'),
};

export const rolloutSchemas: ComponentSchemas = {
  ShadowFigures: {
    type: 'object',
    description:
      'Requests that stable served and that were matched against the candidate too. One may differ in several ways.',
    required: Object.keys(counts),
    properties: {
      ...counts,
      examples: {
        type: 'object',
        description: 'At most 100 of each kind; on a rollout that is read by its id.',
        required: [...shadowKinds],
        properties: Object.fromEntries(
          shadowKinds.map((kind) => [kind, { type: 'array', items: { $ref: '#/components/schemas/ShadowExample' } }]),
        ),
      },
    },
  },
  ShadowExample: {
    type: 'object',
    description: 'A request that both configurations treat differently, without values of its query and fields.',
    required: ['time', 'method', 'host', 'path', 'params', 'from', 'to', 'what'],
    properties: {
      time: { type: 'string', format: 'date-time', description: 'UTC.' },
      method: text('Method.'),
      host: text('Without port.'),
      path: text('Canonical, without the query.'),
      params: texts('Names of the parameters of the query.'),
      from: named('Route of stable; null: none.'),
      to: named('Route of the candidate; null: none.'),
      what: texts('Parts that differ.'),
    },
  },
  RolloutStep: {
    type: 'object',
    required: ['hold'],
    properties: {
      share: { type: 'number', description: 'Percent of the clients, or of the proxies.' },
      labels: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'Proxies that have them, whole.',
      },
      shadow: {
        allOf: [{ $ref: '#/components/schemas/ShadowFigures' }],
        description: 'Figures of a shadow step; absent of the others.',
      },
      hold: text('How long it lasts at least.'),
    },
  },
  Rollout: {
    type: 'object',
    description: 'A progressive activation.',
    required: ['id', 'snapshotId', 'state', 'activated', 'step', 'share', 'steps', 'guards', 'comment', 'events'],
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
      activated: {
        type: 'boolean',
        description: 'The snapshot was activated at the end; false for one with shadow steps alone.',
      },
      step: { type: 'integer', minimum: 0, description: 'The step under way, or the last one: its place in `steps`.' },
      share: { type: 'number', description: 'Percent; 0 where labels choose, and in shadow steps.' },
      steps: {
        type: 'array',
        items: { $ref: '#/components/schemas/RolloutStep' },
        description: 'As planned; the last one is all, unless all are shadow steps.',
      },
      by: { type: 'string', enum: ['client', 'proxy'], description: 'What a share is of.' },
      key: {
        allOf: [{ $ref: '#/components/schemas/ShareKeyRequest' }],
        description: 'Which clients stay together.',
      },
      shadowSample: {
        type: 'integer',
        nullable: true,
        description: 'Of the requests during shadow steps one in so many is compared; null without such steps.',
      },
      shadow: {
        nullable: true,
        allOf: [{ $ref: '#/components/schemas/ShadowFigures' }],
        description: 'All shadow steps together; null without any.',
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
