// Schemas of `POST /diff` for the OpenAPI document.
import { changedParts } from '../model/replay-report.ts';
import { replayMax } from '../resources/diff/diff-question.ts';
import { schemaRef } from '../resources/operation.ts';
import type { ComponentSchemas } from './component-schemas.ts';

const text = (description: string) => ({ type: 'string', description }) as const;
const count = (description: string) => ({ type: 'integer', minimum: 0, description }) as const;

type Schema = ComponentSchemas[string];

const routeName: Schema & object = {
  type: 'object',
  required: ['id', 'name'],
  properties: { id: text('Id of the route.'), name: text('Its name.') },
};

const moved = (description: string): Schema => ({
  type: 'array',
  description,
  items: {
    type: 'object',
    required: ['from', 'to', 'requests', 'standsFor', 'examples'],
    properties: {
      from: { ...routeName, nullable: true, description: 'Route that served them; null: none.' },
      to: { ...routeName, nullable: true, description: 'Route that would serve them; null: none.' },
      requests: count('Number of them.'),
      standsFor: count('Requests that these stand for, where only a share was recorded.'),
      examples: { type: 'array', items: schemaRef('RecentRequest'), description: 'Five at most.' },
    },
  },
});

export const configurationDifferenceSchemas: ComponentSchemas = {
  ConfigurationDifference: {
    type: 'object',
    description: 'How two configurations differ.',
    required: ['from', 'to', 'entities', 'findings', 'routes', 'replay'],
    properties: {
      from: { ...text('`staged`, or the id of the first snapshot; null: there was none.'), nullable: true },
      to: text('`staged`, or the id of the second snapshot.'),
      entities: {
        allOf: [schemaRef('EntityDifference')],
        description: 'Field by field, from the first to the second.',
      },
      findings: {
        type: 'object',
        description: 'Findings of one of them alone.',
        required: ['new', 'gone'],
        properties: {
          new: { type: 'array', items: schemaRef('Finding'), description: 'Of the second.' },
          gone: { type: 'array', items: schemaRef('Finding'), description: 'Of the first.' },
        },
      },
      routes: {
        type: 'array',
        description: 'Routes that a change reaches.',
        items: {
          type: 'object',
          required: ['id', 'name', 'why'],
          properties: {
            id: text('Id.'),
            name: text('Name.'),
            why: {
              type: 'array',
              items: { type: 'string' },
              description: '`destination cart: /options/timeouts/request`.',
            },
          },
        },
      },
      replay: { allOf: [schemaRef('Replay')], nullable: true, description: 'Null: no requests were replayed.' },
      unreachable: {
        type: 'array',
        items: { type: 'string' },
        description: 'Nodes and proxies whose requests are not among the replayed ones; absent for an activation.',
      },
    },
  },
  DiffRequest: {
    type: 'object',
    description: 'Which configurations are compared.',
    properties: {
      from: { ...text('`active`, `staged`, or the id of a snapshot.'), default: 'active' },
      to: { ...text('`active`, `staged`, or the id of a snapshot.'), default: 'staged' },
      replay: {
        type: 'object',
        nullable: true,
        description: 'Requests that are matched against both; null or absent: none.',
        properties: {
          limit: {
            type: 'integer',
            minimum: 1,
            maximum: replayMax,
            default: replayMax,
            description: 'The newest of all nodes and proxies.',
          },
          where: text('CEL over a request, as in `GET /requests`: those for which it is true.'),
        },
      },
    },
  },
  Replay: {
    type: 'object',
    description: 'Requests of the last minutes by what the change does to them.',
    required: ['requests', 'standsFor', 'same', 'moved', 'lost', 'gained', 'changed', 'undecided'],
    properties: {
      requests: count('Requests that were replayed.'),
      standsFor: count('Requests that these stand for, where only a share was recorded.'),
      same: count('Those to which the change does nothing.'),
      moved: moved('Those that another route serves; null: a listener answers by itself.'),
      lost: moved('Those that a route served and none would: `to` is null.'),
      gained: moved('Those that no route served and one would: `from` is null.'),
      changed: {
        type: 'array',
        description: 'Those that the same route serves in another way.',
        items: {
          type: 'object',
          required: ['route', 'what', 'requests'],
          properties: {
            route: routeName,
            what: {
              type: 'array',
              items: { type: 'string', enum: [...changedParts] },
              description: 'Parts of the route that differ.',
            },
            requests: count('Number of them.'),
          },
        },
      },
      undecided: {
        type: 'array',
        description: 'Those of which the record does not tell what decides.',
        items: {
          type: 'object',
          required: ['needs', 'requests'],
          properties: {
            needs: text('`header x-tenant`, `query page`, `body`, `certificate`.'),
            requests: count('Number of them.'),
          },
        },
      },
    },
  },
};
