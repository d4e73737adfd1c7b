// Schemas of the messages about leases of rate limits (fleet.md §8).
import { messageLimits } from '../model/fleet-messages.ts';
import { grantStates, leaseLimits } from '../model/lease-messages.ts';
import type { ComponentSchemas } from './component-schemas.ts';

type Schema = ComponentSchemas[string];

const amount = (description: string): Schema => ({ type: 'number', minimum: 0, description });
const above = (description: string): Schema => ({ type: 'number', minimum: 0, exclusiveMinimum: true, description });
const name = (description: string, maxLength: number): Schema => ({ type: 'string', maxLength, description });

const limitId = name('Names the limit as it is configured.', leaseLimits.id);
const key = name('Key of the budget.', leaseLimits.key);

export const leaseSchemas: ComponentSchemas = {
  LeaseReport: {
    type: 'object',
    description: 'Parts that a proxy holds of the budgets of rate limits. Amounts are tokens.',
    required: ['token', 'boot', 'seq', 'limits'],
    properties: {
      token: name('`X-Sluice-Ack` of the stream.', messageLimits.token),
      boot: name('`X-Sluice-Boot` of the request for it.', messageLimits.boot),
      seq: { type: 'integer', minimum: 0, description: 'Rises with each report of a process.' },
      limits: {
        type: 'array',
        maxItems: leaseLimits.limits,
        description: 'Limits of which it holds parts.',
        items: {
          type: 'object',
          required: ['id', 'requestsPerSecond', 'burst', 'keys'],
          properties: {
            id: limitId,
            requestsPerSecond: above('Rate of the limit.'),
            burst: above('Size of a bucket of the limit.'),
            keys: {
              type: 'array',
              maxItems: leaseLimits.keys,
              description: 'One entry per key.',
              items: {
                type: 'object',
                required: ['key', 'share', 'level', 'back', 'want', 'used'],
                properties: {
                  key,
                  share: amount('Part of the burst that is held; the same part of the rate comes with it.'),
                  level: amount('Tokens in hand.'),
                  back: amount('Tokens given back since the process began to hold it.'),
                  want: amount('Tokens that are lacking.'),
                  used: amount('Tokens that requests asked for since the last report.'),
                },
              },
            },
          },
        },
      },
    },
  },
  LeaseReply: {
    type: 'object',
    description: 'Parts that the proxy holds from now on.',
    required: ['paceMs', 'limits'],
    properties: {
      paceMs: amount('Interval of reports, in milliseconds.'),
      limits: {
        type: 'array',
        description: 'The limits of the report.',
        items: {
          type: 'object',
          required: ['id', 'keys'],
          properties: {
            id: limitId,
            keys: {
              type: 'array',
              description: 'The keys of the report.',
              items: {
                type: 'object',
                required: ['key', 'share', 'grant', 'left', 'state', 'waitMs'],
                properties: {
                  key,
                  share: amount('Part of the burst that is held from now on.'),
                  grant: amount('Tokens on top of those in hand.'),
                  left: amount('Tokens that are left elsewhere in the cluster.'),
                  state: {
                    type: 'string',
                    enum: [...grantStates],
                    description: 'Granted; more may come soon; none is left; the leader is new and moves nothing yet.',
                  },
                  waitMs: amount('Milliseconds after which it is worth to ask again, where none is left.'),
                },
              },
            },
          },
        },
      },
    },
  },
};
