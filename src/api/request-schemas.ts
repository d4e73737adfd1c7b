// Schemas for diagnosis: recent requests, log levels.

import { logLevels, logModules } from '../telemetry/log-levels.ts';
import type { ComponentSchemas } from './component-schemas.ts';

type Schema = ComponentSchemas[string];

const text = (description: string): Schema => ({ type: 'string', description });
const count = (description: string, minimum = 0): Schema => ({ type: 'integer', minimum, description });

const milliseconds = (description: string): Schema => ({ type: 'number', minimum: 0, description });

const request: Record<string, Schema> = {
  time: { type: 'string', format: 'date-time', description: 'When its head was whole.' },
  method: text('As sent; empty, as host and path are, for what could not be read.'),
  scheme: { type: 'string', enum: ['http', 'https'], description: 'How it came.' },
  host: text('Without port.'),
  path: text('Canonical, without the query.'),
  params: {
    type: 'array',
    items: { type: 'string' },
    description: 'Names of the query parameters that have a value, as sent.',
  },
  query: {
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'First values of the query parameters that the settings list, decoded. No other values are kept.',
  },
  headers: {
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'First values of the headers that the settings list; credentials are `[redacted]` all the same.',
  },
  protocol: { type: 'string', enum: ['HTTP/1.0', 'HTTP/1.1', 'HTTP/2.0'], description: 'Between client and proxy.' },
  status: count('499 for a client that was gone before its answer began.'),
  listener: text('Name of the listener that it came in on; empty for what could not be read.'),
  listenerId: text('Its id.'),
  section: text('Name of the section of its host; empty where the listener has none, or none for the host.'),
  route: text('Name of the route that won it; empty when none did.'),
  routeId: text('Its id.'),
  group: text('Name of its group; empty without one.'),
  destination: text('Id; empty when it went nowhere.'),
  endpoint: text('`host:port` of the last try.'),
  attempts: count('Tries.'),
  durationMs: milliseconds('From the head to the end of the response: the sum of the four phases that follow.'),
  proxyMs: milliseconds('Before the last try: middlewares, choices, earlier tries. Without a try all of it.'),
  connectMs: milliseconds('Until the last try had a connection: queued, or connecting.'),
  firstByteMs: milliseconds('From then to the head of the response.'),
  transferMs: milliseconds('From there to the end of the response.'),
  snapshotIndex: count('Log index of the configuration that served it.'),
  role: { type: 'string', enum: ['stable', 'candidate'], description: 'Whose configuration that is.' },
  error: text('Type of the proxy error that answered it; empty when none did.'),
  oneIn: count('It stands for so many like it.', 1),
};

const side = (of: string): Schema => ({
  type: 'object',
  description: `The response of ${of}.`,
  required: ['status', 'value'],
  properties: {
    status: count('0: there was no response.'),
    value: {
      type: 'string',
      nullable: true,
      description:
        'What it has at the difference, at most 200 characters; null where it has nothing there, or the status differs.',
    },
  },
});

const mismatch: Record<string, Schema> = {
  time: { type: 'string', format: 'date-time', description: 'When both responses were compared.' },
  method: text('As sent.'),
  host: text('Without port.'),
  path: text('Canonical, without the query.'),
  route: text('Name of the route.'),
  routeId: text('Its id.'),
  destination: text('Id of the destination of the mirror.'),
  result: { type: 'string', enum: ['status', 'headers', 'body'], description: 'What differs first.' },
  pointer: {
    type: 'string',
    nullable: true,
    description: 'JSON pointer of the first difference of two JSON bodies; null for all else.',
  },
  header: { type: 'string', nullable: true, description: 'Name of the header that differs; null for all else.' },
  primary: side('the destination of the request'),
  mirror: side('the mirror'),
};

const level: Schema = { type: 'string', enum: [...logLevels], description: 'What is logged: that and above.' };

export const requestSchemas: ComponentSchemas = {
  LogLevelRequest: {
    type: 'object',
    description: 'Which level, of what.',
    required: ['level'],
    properties: {
      level,
      module: {
        type: 'string',
        enum: [...logModules],
        description: 'Absent: all, those with a level of their own too.',
      },
    },
  },
  LogLevels: {
    type: 'object',
    description: 'How much a node logs.',
    required: ['level', 'modules'],
    properties: {
      level: { ...level, description: 'Of modules that were given none of their own.' },
      modules: {
        type: 'object',
        description: 'The level of each.',
        required: [...logModules],
        properties: Object.fromEntries(logModules.map((module) => [module, level])),
      },
    },
  },
  MirrorMismatch: {
    type: 'object',
    description: 'Two responses to one request that differ.',
    required: Object.keys(mismatch),
    properties: mismatch,
  },
  RecentRequest: { type: 'object', required: Object.keys(request), properties: request },
  RecentRequests: {
    type: 'object',
    required: ['node', 'capacity', 'sampling', 'requests'],
    properties: {
      node: text('The node that answers; it tells of its own proxy alone.'),
      capacity: count('So many are remembered; 0: none.'),
      sampling: {
        type: 'object',
        description: 'Which share of the traffic is kept.',
        required: ['seen', 'kept', 'oneIn', 'oneInOfErrors'],
        properties: {
          seen: count('Requests that have ended since the start.'),
          kept: count('Of those so many were written down.'),
          oneIn: count('At the moment one in so many is kept, by the thread that keeps the smallest share.', 1),
          oneInOfErrors: count('The same for answers from 500 on and proxy errors.', 1),
        },
      },
      requests: {
        type: 'array',
        items: { $ref: '#/components/schemas/RecentRequest' },
        description: 'Last one first.',
      },
    },
  },
};
