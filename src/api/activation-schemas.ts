// Schemas of activations for the OpenAPI document.
import type { OpenAPIObject } from '@nestjs/swagger';

type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;

const comment = { type: 'string', maxLength: 500, description: 'For those who look at the history.' } as const;

export const activationSchemas: Schemas = {
  ActivationRequest: {
    type: 'object',
    description: 'What may be said about it; every field is optional.',
    properties: { comment },
  },
  Activation: {
    type: 'object',
    description: 'One activation.',
    required: ['index', 'at', 'snapshotId', 'name', 'sha256', 'by', 'reason', 'comment', 'rollout'],
    properties: {
      index: { type: 'integer', description: 'Log index.' },
      at: { type: 'string', format: 'date-time', description: 'When, UTC.' },
      snapshotId: { type: 'string', description: 'The snapshot, which may be deleted since.' },
      name: { type: 'string', description: 'Its name.' },
      sha256: {
        type: 'string',
        nullable: true,
        description: 'Of the canonical JSON (RFC 8785) of the five lists that proxies got.',
      },
      by: { type: 'string', nullable: true, description: 'Name of the API key; null without.' },
      reason: {
        type: 'string',
        enum: ['activated', 'rollout', 'not confirmed', 'rollback'],
        description: 'Why.',
      },
      comment: { ...comment, nullable: true },
      rollout: { type: 'string', nullable: true, description: 'Id of the rollout that ended in it.' },
    },
  },
};
