// Schemas of activations for the OpenAPI document.
import type { ComponentSchemas } from './component-schemas.ts';

export const activationSchemas: ComponentSchemas = {
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
        description: 'Of the canonical JSON (RFC 8785) of the lists that proxies got.',
      },
      by: { type: 'string', nullable: true, description: 'Name of the API key; null without.' },
      reason: {
        type: 'string',
        enum: ['activated', 'rollout', 'not confirmed', 'rollback'],
        description: 'Why.',
      },
      comment: { type: 'string', nullable: true, description: 'What was said about it.' },
      rollout: { type: 'string', nullable: true, description: 'Id of the rollout that ended in it.' },
    },
  },
};
