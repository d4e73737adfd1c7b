// Schemas of what nodes of a cluster say to each other, and of what the cluster says about itself.
import type { OpenAPIObject } from '@nestjs/swagger';

type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;

const requestId: Schemas[string] = {
  type: 'object',
  description: 'Names one write for ever: the same one again has no second effect.',
  required: ['origin', 'incarnation', 'boot', 'seq', 'ackedBelow'],
  properties: {
    origin: { type: 'string', description: 'Node that received the write.' },
    incarnation: { type: 'integer', description: 'Drawn when the store of that node was created.' },
    boot: { type: 'integer', description: 'Start counter of that node.' },
    seq: { type: 'integer', description: 'Counts the writes of that start.' },
    ackedBelow: { type: 'integer', description: 'Every lower `seq` of that start is answered.' },
  },
};

export const clusterSchemas: Schemas = {
  RelayedWrite: {
    type: 'object',
    description: 'A write on its way from the node that received it to the leader.',
    required: ['v', 'clusterId', 'requestId', 'command', 'remainingMs', 'hop'],
    properties: {
      v: { type: 'integer', enum: [1], description: 'Version of this form.' },
      clusterId: { type: 'string', description: 'Cluster that the write is for.' },
      requestId,
      command: { type: 'string', format: 'byte', description: 'The command as the log carries it, base64.' },
      remainingMs: { type: 'integer', minimum: 1, description: 'How long the caller at the border still waits.' },
      hop: { type: 'integer', enum: [1], description: 'A write is relayed once.' },
    },
  },
  RelayedResult: {
    type: 'object',
    description: 'What became of a relayed write.',
    required: ['index', 'result'],
    properties: {
      index: { type: 'integer', description: 'Log index at which it was decided.' },
      result: {
        type: 'object',
        description: 'The decision; refusals are decisions too.',
        required: ['status', 'kind', 'id'],
        properties: {
          status: {
            oneOf: [{ type: 'integer' }, { type: 'string', enum: ['moved'] }],
            description: 'Status for the caller at the border; `moved`: the capture has to look again.',
          },
          kind: { type: 'string', description: 'Kind of the resource.' },
          id: { type: 'string', description: 'Id of the resource.' },
          error: { type: 'string', description: 'Why it was refused.' },
        },
      },
    },
  },
};
