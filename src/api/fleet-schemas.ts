// Schemas of the fleet: reports of proxies, and the overview of the API.

import { latencyBuckets, messageLimits } from '../model/fleet-messages.ts';
import type { ComponentSchemas } from './component-schemas.ts';

type Schema = ComponentSchemas[string];

const text = (description: string): Schema => ({ type: 'string', description });
const shortText = (description: string, maxLength: number): Schema => ({ type: 'string', maxLength, description });
/** Integer that a double holds exactly. */
const uint = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;
const count = (description: string): Schema => ({ ...uint, description });
const time = (description: string): Schema => ({ type: 'string', format: 'date-time', description });

const problems: Schema = {
  type: 'array',
  maxItems: messageLimits.problems,
  description: 'What is closed, or why it was refused.',
  items: {
    type: 'object',
    required: ['pointer', 'message'],
    properties: { pointer: text('JSON pointer, entities by id.'), message: text('What is wrong, for a person.') },
  },
};

const listeners: Schema = {
  type: 'array',
  maxItems: messageLimits.listeners,
  description: 'The listeners of the configuration that is installed.',
  items: {
    type: 'object',
    required: ['id', 'state'],
    properties: {
      id: shortText('Id of the listener.', messageLimits.id),
      state: { type: 'string', enum: ['open', 'waiting', 'failed'], description: '`waiting`: tried again.' },
      reason: text('Why it is not open.'),
    },
  },
};

const version = (description: string): Schema => ({
  type: 'object',
  nullable: true,
  description,
  required: ['index', 'snapshotId', 'sha256'],
  properties: {
    index: count('Log index of the activation.'),
    snapshotId: { type: 'string', nullable: true, description: 'Id of the snapshot, where it is remembered.' },
    sha256: text('Of the canonical JSON of the lists, hex.'),
  },
});

const stream = {
  token: shortText('`X-Sluice-Ack` of the stream.', messageLimits.token),
  boot: shortText('`X-Sluice-Boot` of the request for it.', messageLimits.boot),
};
const of: Schema = { type: 'string', enum: ['stable', 'candidate'], description: 'Which of two configurations.' };

export const fleetSchemas: ComponentSchemas = {
  NodeDisks: {
    type: 'object',
    description: 'Disks of a node.',
    required: ['nodeId', 'disks', 'problem'],
    properties: {
      nodeId: { type: 'string', description: 'Name of the node.' },
      disks: {
        type: 'array',
        nullable: true,
        description: 'Null: the node does not answer.',
        items: {
          type: 'object',
          required: ['path', 'freeBytes', 'totalBytes', 'state'],
          properties: {
            path: { type: 'string', description: 'Directory of the store.' },
            freeBytes: { type: 'integer', minimum: 0, description: 'Bytes that the node may still write there.' },
            totalBytes: { type: 'integer', minimum: 0, description: 'Size of the file system.' },
            state: {
              type: 'string',
              enum: ['fine', 'low', 'full'],
              description:
                '`low`: below 10 % or 1 GiB, whichever is less. `full`: below 2 % or 256 MiB, whichever is less; a leader refuses writes.',
            },
          },
        },
      },
      problem: {
        type: 'string',
        nullable: true,
        description: 'Why the store takes no write, as in answers of 503; null while it takes them.',
      },
    },
  },
  Acknowledgement: {
    type: 'object',
    description: 'What a proxy has done with a configuration.',
    required: ['token', 'boot', 'index', 'sha256', 'of', 'state', 'tookMs'],
    properties: {
      ...stream,
      index: count('Id of the event.'),
      sha256: shortText(
        'Of the canonical JSON of the lists, hex; empty when they could not be read.',
        messageLimits.sha256,
      ),
      of,
      state: { type: 'string', enum: ['installed', 'refused'], description: 'Refused: the former one stays.' },
      tookMs: { type: 'number', minimum: 0, description: 'From its arrival to now, in milliseconds.' },
      problems,
      listeners,
    },
  },
  ProxyAnswer: {
    type: 'object',
    description: 'Answer to event `ask`.',
    required: ['token', 'boot', 'id'],
    properties: {
      ...stream,
      id: count('Number of the question.'),
      answer: {
        type: 'object',
        nullable: true,
        description:
          '`page` with recorded requests, or `refused` with the reason. Understood between versions of one program; what ' +
          'is malformed counts as no answer.',
        additionalProperties: true,
      },
    },
  },
  TrafficReport: {
    type: 'object',
    description: 'What a proxy has served since its last report.',
    required: ['token', 'boot', 'window'],
    properties: {
      ...stream,
      window: {
        type: 'array',
        maxItems: messageLimits.windows,
        description: 'One entry per configuration that served.',
        items: {
          type: 'object',
          required: ['of', 'requests', 'serverErrors', 'clientErrors', 'proxyErrors'],
          properties: {
            mirror: {
              type: 'object',
              nullable: true,
              description: 'Responses of mirrors that were compared; absent where none was.',
              required: ['compared', 'mismatched'],
              properties: { compared: count('Compared.'), mismatched: count('Those of them that differ.') },
            },
            of,
            rollout: { type: 'string', nullable: true, description: 'Id of the rollout, of a candidate.' },
            requests: count('Requests.'),
            serverErrors: count('Answered with 5xx by an upstream.'),
            clientErrors: count('Answered with 4xx.'),
            proxyErrors: count('Answered by the proxy itself because it could not do otherwise.'),
            latency: {
              type: 'array',
              maxItems: latencyBuckets,
              anyOf: [{ maxItems: 0 }, { minItems: latencyBuckets }],
              items: { ...uint },
              description: `Requests by duration in ${latencyBuckets} buckets, each 2^(1/4) wider, from 0.1 ms; or empty.`,
            },
          },
        },
      },
      traffic: {
        type: 'object',
        description:
          'Traffic by route and destination: `routes` and `destinations` with pairs of id and counts, `hits` with the times ' +
          'of last requests. Understood between versions of one program.',
        additionalProperties: true,
      },
    },
  },
  FleetProxy: {
    type: 'object',
    description: 'A proxy, as the node knows it that holds its stream.',
    required: [
      'id',
      'embedded',
      'labels',
      'version',
      'node',
      'address',
      'connectedAt',
      'lastSeen',
      'installed',
      'wanted',
      'candidate',
      'state',
      'problems',
      'listeners',
      'requestsPerSecond',
      'errorRate',
    ],
    properties: {
      id: text('Its own name; that of the node for one within a node.'),
      embedded: { type: 'boolean', description: 'It is a node.' },
      labels: { type: 'object', additionalProperties: { type: 'string' }, description: 'Of its settings.' },
      version: text('Of its program.'),
      node: text('Node that holds its stream, or held it last.'),
      address: text('From where it connected; empty for one within a node.'),
      connectedAt: time('When its stream began.'),
      lastSeen: time('When it said something last.'),
      installed: version('What it runs.'),
      wanted: version('What is active, as its node knows.'),
      candidate: version('What it runs beside that.'),
      state: {
        type: 'string',
        enum: ['current', 'behind', 'refused', 'disconnected'],
        description: 'How it is with what is active.',
      },
      problems,
      listeners,
      requestsPerSecond: { type: 'number', nullable: true, description: 'By its last report; null without one.' },
      errorRate: { type: 'number', nullable: true, description: 'Server and proxy errors of all requests, 0 to 1.' },
      duplicate: { type: 'boolean', description: 'Another live stream has the same id.' },
    },
  },
  Fleet: {
    type: 'object',
    description: 'All proxies of the cluster.',
    required: ['proxies', 'anonymous', 'summary', 'unreachableNodes'],
    properties: {
      proxies: {
        type: 'array',
        items: { $ref: '#/components/schemas/FleetProxy' },
        description: 'Ascending by id.',
      },
      anonymous: count('Streams of proxies that do not introduce themselves.'),
      summary: {
        type: 'object',
        description: 'How many proxies are in which state.',
        required: ['total', 'current', 'behind', 'refused', 'disconnected'],
        properties: {
          total: count('All that are listed.'),
          current: count('Run what is active.'),
          behind: count('Do not run it yet.'),
          refused: count('Refuse it.'),
          disconnected: count('Have left within the last 24 hours.'),
        },
      },
      unreachableNodes: {
        type: 'array',
        items: { type: 'string' },
        description: 'Nodes that did not answer: their proxies are missing here.',
      },
    },
  },
  FleetQuestion: {
    type: 'object',
    description: 'What one node asks another about its proxies.',
    required: ['v', 'clusterId', 'to', 'question'],
    properties: {
      v: { type: 'integer', enum: [1], description: 'Version of this form.' },
      clusterId: text('Cluster that the question is for.'),
      to: text('Node that the question is for.'),
      question: { type: 'object', description: 'Understood between nodes of one version.' },
    },
  },
  FleetAnswer: {
    type: 'object',
    description: 'The answer to it.',
    required: ['answer'],
    properties: { answer: { type: 'object', description: 'Understood between nodes of one version.' } },
  },
  Convergence: {
    type: 'object',
    description: 'How far the proxies are that were waited for.',
    required: ['wanted', 'installed', 'refused', 'pending', 'pendingProxies', 'unheard', 'tookMs', 'refusals'],
    properties: {
      wanted: count('So many were asked for, of those that there are.'),
      installed: count('Have it installed.'),
      refused: count('Refuse it.'),
      pending: count('Have not said.'),
      pendingProxies: { type: 'array', items: { type: 'string' }, description: 'Their ids.' },
      unheard: {
        type: 'array',
        description: 'Of the pending ones, those that no node hears: their node was removed, is cut off or began anew.',
        items: {
          type: 'object',
          required: ['proxy', 'node', 'lastSeen'],
          properties: {
            proxy: text('Its id.'),
            node: text('Node that held its stream.'),
            lastSeen: text('When that node told of it last, RFC 3339 UTC.'),
          },
        },
      },
      tookMs: count('How long was waited, in milliseconds.'),
      refusals: {
        type: 'array',
        description: 'Who refuses it, and why.',
        items: {
          type: 'object',
          required: ['proxy', 'problems'],
          properties: { proxy: text('Its id.'), problems },
        },
      },
    },
  },
};
