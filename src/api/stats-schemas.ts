// Schemas of `GET /stats` for the OpenAPI document.
import type { ComponentSchemas } from './component-schemas.ts';

type Schema = ComponentSchemas[string];

const time = (description: string): Schema => ({ type: 'string', format: 'date-time', description });
const ratio = (description: string): Schema => ({ type: 'number', minimum: 0, maximum: 1, description });
const ms = (description: string): Schema => ({ type: 'number', minimum: 0, nullable: true, description });

const runs = (description: string): Schema => ({ type: 'integer', minimum: 0, description });

const figures = {
  requestsPerSecond: { type: 'number', minimum: 0, description: 'Requests that ended, per second.' },
  errorRate: ratio('Answers of 500 and above and errors of the proxy itself, of all.'),
  clientErrorRate: ratio('Answers of 400 to 499, of all.'),
  p50Ms: ms('Half of the requests took no longer, in milliseconds, in steps of 19 %; null without a request.'),
  p95Ms: ms('The same of 95 %.'),
  p99Ms: ms('The same of 99 %.'),
} as const satisfies Record<string, Schema>;

const { requestsPerSecond: _, ...ratios } = figures;

const windows: Schema = {
  type: 'object',
  description: 'By window.',
  required: ['1s', '10s', '60s'],
  properties: Object.fromEntries(
    ['1s', '10s', '60s'].map((window) => [window, { $ref: '#/components/schemas/TrafficFigures' }]),
  ),
};

const subjects = (description: string): Schema => ({
  type: 'array',
  description,
  items: { $ref: '#/components/schemas/TrafficSubject' },
});

export const statsSchemas: ComponentSchemas = {
  TrafficFigures: {
    type: 'object',
    description: 'Requests of one window.',
    required: Object.keys(figures),
    properties: figures,
  },
  VariantTraffic: {
    type: 'object',
    description: 'Requests of one variant.',
    required: ['requests', ...Object.keys(ratios)],
    properties: { requests: { type: 'integer', minimum: 0, description: 'Requests that ended.' }, ...ratios },
  },
  TrafficSubject: {
    type: 'object',
    description: 'Traffic of a route or destination.',
    required: ['id', 'name', 'lastHit', 'windows'],
    properties: {
      id: { type: 'string', description: 'Id.' },
      name: { type: 'string', nullable: true, description: 'Name; null for one that is not staged.' },
      lastHit: { ...time('Time of its last request; null: none since `since`.'), nullable: true },
      windows,
      chain: {
        type: 'array',
        description: 'With `chain=true`, of a route that was asked for: middlewares of its groups, then its own.',
        items: { $ref: '#/components/schemas/ChainTraffic' },
      },
    },
  },
  ChainTraffic: {
    type: 'object',
    description: 'Runs of a middleware for the requests of one route, since `since`; all of them, none is sampled.',
    required: ['middlewareId', 'name', 'type', 'passed', 'rejected'],
    properties: {
      middlewareId: { type: 'string', description: 'Id of the middleware.' },
      name: { type: 'string', nullable: true, description: 'Name; null for one that is not staged.' },
      type: { type: 'string', description: 'Type of the middleware.' },
      passed: runs('Runs that let the exchange go on.'),
      rejected: runs('Runs that answered 400 or above in its place.'),
    },
  },
  Stats: {
    type: 'object',
    description: 'Traffic of the fleet.',
    required: ['at', 'since', 'unreachableNodes', 'oneIn', 'total', 'routes', 'destinations'],
    properties: {
      at: time('Time of the answer.'),
      since: time('Time from which on all nodes that answer have counted.'),
      unreachableNodes: {
        type: 'array',
        items: { type: 'string' },
        description: 'Nodes that did not answer within a second: their traffic is missing here.',
      },
      oneIn: {
        type: 'integer',
        minimum: 1,
        description: 'Number of requests that a kept one represents at the moment.',
      },
      total: windows,
      routes: subjects('The first fifty of the order, or those that were asked for.'),
      destinations: subjects('The first fifty of the order.'),
      rollout: {
        type: 'object',
        description: 'Rollout under way: both variants since it began.',
        required: ['id', 'candidate', 'stable'],
        properties: {
          id: { type: 'string', description: 'Id of the rollout.' },
          candidate: { $ref: '#/components/schemas/VariantTraffic' },
          stable: { $ref: '#/components/schemas/VariantTraffic' },
        },
      },
      history: {
        type: 'array',
        description: 'With `history=true`: the last 15 minutes, oldest first, in steps of five seconds.',
        items: {
          type: 'object',
          required: ['at', ...Object.keys(figures)],
          properties: { at: time('Begin of the step.'), ...figures },
        },
      },
    },
  },
};
