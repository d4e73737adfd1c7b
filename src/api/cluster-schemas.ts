// Schemas of messages between nodes of a cluster, and of the overview of the cluster.

import { placePattern } from '../model/pattern.ts';
import type { ComponentSchemas } from './component-schemas.ts';

const requestId: ComponentSchemas[string] = {
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

/** Schema of a name or an address that the leader takes. */
const word = { type: 'string', minLength: 1, maxLength: 256 } as const;

export const clusterSchemas: ComponentSchemas = {
  RelayedWrite: {
    type: 'object',
    description:
      'A write on its way from the node that received it to the leader; or up to 64 of them in `writes`, each with its ' +
      '`requestId`, `command` and `remainingMs`.',
    required: ['v', 'clusterId', 'hop'],
    properties: {
      v: { type: 'integer', enum: [1], description: 'Version of this form.' },
      clusterId: { type: 'string', description: 'Cluster that the write is for.' },
      requestId,
      command: { type: 'string', format: 'byte', description: 'The command as the log carries it, base64.' },
      remainingMs: { type: 'integer', minimum: 1, description: 'How long the caller at the border still waits.' },
      hop: { type: 'integer', enum: [1], description: 'A write is relayed once.' },
      writes: { type: 'array', items: { type: 'object' }, description: 'Several writes in place of one.' },
    },
  },
  RelayedResult: {
    type: 'object',
    description: 'What became of a relayed write; of several, `answers` in their order.',
    properties: {
      answers: {
        type: 'array',
        items: { type: 'object' },
        description: 'Of each, `status` and `body` as it would have been answered alone.',
      },
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
  StateQuestion: {
    type: 'object',
    description: 'One node asks another which states it was in lately.',
    required: ['v', 'clusterId'],
    properties: {
      v: { type: 'integer', enum: [1], description: 'Version of this form.' },
      clusterId: { type: 'string', description: 'Cluster that both belong to.' },
    },
  },
  StateHashes: {
    type: 'object',
    description: 'The states that a node was in lately.',
    required: ['member', 'hashes'],
    properties: {
      member: { type: 'string', description: 'Name and incarnation of the node that answers.' },
      hashes: {
        type: 'array',
        description: 'Pairs of an applied index and the state hash after it, ascending.',
        items: { type: 'array', minItems: 2, maxItems: 2, items: { oneOf: [{ type: 'integer' }, { type: 'string' }] } },
      },
    },
  },
  Cluster: {
    type: 'object',
    description: 'The cluster, as its leader sees it; as this node does while there is no leader.',
    required: ['clustered', 'clusterId', 'leader', 'term', 'commit', 'applied', 'log', 'members', 'candidates'],
    properties: {
      clustered: { type: 'boolean', description: 'False: a cluster of one, without a `raft` section.' },
      clusterId: { type: 'string', nullable: true, description: 'Drawn when the cluster was created.' },
      leader: { type: 'string', nullable: true, description: 'Name of the node that leads; null while none does.' },
      term: { type: 'integer', description: 'Counts elections.' },
      commit: { type: 'integer', description: 'Last index that the cluster agreed on.' },
      applied: { type: 'integer', description: 'Last index that is applied.' },
      log: {
        type: 'object',
        description: 'What of the log is kept; earlier entries are in checkpoints.',
        properties: {
          first: { type: 'integer', description: 'First index.' },
          last: { type: 'integer', description: 'Last index.' },
          lastTerm: {
            type: 'integer',
            description:
              'Term of the last entry: of two logs the one with the higher term, then the longer one, reaches further.',
          },
        },
      },
      members: {
        type: 'array',
        items: { $ref: '#/components/schemas/Member' },
        description: 'Voters and learners, ascending by name.',
      },
      candidates: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            nodeId: { type: 'string', description: 'Name of the node.' },
            raftAddress: { type: 'string', description: 'Where peers reach it.' },
          },
        },
        description: 'Connected nodes that belong to no cluster yet.',
      },
    },
  },
  Member: {
    type: 'object',
    description: 'A node of the cluster.',
    required: [
      'nodeId',
      'incarnation',
      'role',
      'raftAddress',
      'apiAddress',
      'match',
      'lag',
      'healthy',
      'clockOffsetSeconds',
    ],
    properties: {
      nodeId: { type: 'string', description: 'Its name.' },
      incarnation: { type: 'integer', description: 'Tells two lives of one name apart.' },
      role: {
        type: 'string',
        enum: ['leader', 'voter', 'learner', 'leaving'],
        description: 'A learner follows and does not vote.',
      },
      raftAddress: { type: 'string', description: 'Where peers reach it, `host:port`.' },
      apiAddress: { type: 'string', description: 'Where its API is, `host:port`; empty when it says none.' },
      match: { type: 'integer', nullable: true, description: 'Last index that it holds; null when not known.' },
      lag: { type: 'integer', nullable: true, description: 'Entries it is behind; null when not known.' },
      healthy: { type: 'boolean', nullable: true, description: 'Heard of lately; null when not known.' },
      clockOffsetSeconds: {
        type: 'number',
        nullable: true,
        description: 'Seconds that its clock is ahead of that of the node that answers; null when it does not tell.',
      },
    },
  },
  MemberRequest: {
    type: 'object',
    description: 'A started node that waits for this cluster.',
    required: ['nodeId', 'address'],
    properties: {
      nodeId: { ...word, description: 'Its name.', example: 'node-4' },
      address: {
        ...word,
        pattern: placePattern,
        description: 'Where peers reach it, `host:port` as `candidates` shows it.',
        example: '10.0.0.4:7000',
      },
    },
  },
  ReplacementRequest: {
    type: 'object',
    description: 'Who votes instead.',
    required: ['by'],
    properties: { by: { ...word, description: 'Name of a learner that has caught up.', example: 'node-4' } },
  },
  TransferRequest: {
    type: 'object',
    description: 'Who shall lead. `null` or no body: the most up-to-date voter.',
    nullable: true,
    properties: {
      to: { ...word, description: 'Name of a voter.', example: 'node-2' },
      from: {
        ...word,
        description:
          'Name of the member that is to hand over. Nothing moves where another one leads, so that a repetition is safe.',
        example: 'node-1',
      },
    },
  },
  Leadership: {
    type: 'object',
    description: 'Who leads now.',
    required: ['leader'],
    properties: { leader: { type: 'string', description: 'Name of the node.' } },
  },
};
