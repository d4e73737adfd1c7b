// Schemas of `POST /explain` for the OpenAPI document.
import { addressPattern, hostPattern } from '../model/pattern.ts';
import { bodyLengthMax, headerValuesMax, urlLengthMax } from '../resources/explain/explain-question.ts';

const text = (description: string, more: object = {}) => ({ type: 'string' as const, description, ...more });
const named = (description: string) => ({
  type: 'object' as const,
  description,
  required: ['id', 'name'],
  properties: { id: text('Id.'), name: text('Name.') },
});
const flag = (description: string) => ({ type: 'boolean' as const, description });
const count = (description: string) => ({ type: 'integer' as const, minimum: 0, description });

const rank = (description: string) => ({
  description,
  oneOf: [{ type: 'string' as const }, { type: 'number' as const }],
});

export const explainSchemas = {
  ExplainRequest: {
    type: 'object' as const,
    description: 'The request that is asked about, and the configuration it is asked of.',
    required: ['url'],
    properties: {
      method: text('Method.', { default: 'GET', pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" }),
      url: text('Path and query, or an absolute URL.', {
        pattern: '^(/|[Hh][Tt][Tt][Pp][Ss]?://[^/?#]+)',
        maxLength: urlLengthMax,
        example: 'http://shop.example/cart?item=7',
      }),
      headers: {
        type: 'object' as const,
        description:
          'Header values by name. `host` names the host when `url` does not. At most 1,000 values, and 256 KiB together.',
        maxProperties: headerValuesMax,
        additionalProperties: {
          oneOf: [
            { type: 'string' as const },
            { type: 'array' as const, items: { type: 'string' as const }, maxItems: headerValuesMax },
          ],
        },
      },
      clientIp: text('Address of the client.', { default: '127.0.0.1', pattern: addressPattern }),
      body: text('Body of the request, as expressions see it.', { maxLength: bodyLengthMax }),
      snapshot: text('`active`, `staged`, or the id of a snapshot.', { default: 'active' }),
      listener: text(
        'Id or name of the listener that the request comes in on, which decides the scheme then. Absent: the one with port and scheme of `url`, else the first with the scheme, else the first.',
        { example: 'public' },
      ),
      sni: text('Server name of the TLS handshake, for `tls.strictServerName` of a listener with sections.', {
        pattern: hostPattern,
        example: 'shop.example',
      }),
    },
  },
  ExplainCandidate: {
    type: 'object' as const,
    description: 'An entry of the routing table whose path agrees.',
    required: ['route', 'path', 'priority', 'matches'],
    properties: {
      route: named('Its route.'),
      group: named('Its group; absent for a route that stands alone.'),
      path: {
        type: 'object' as const,
        description: 'Path of group and route composed.',
        properties: {
          type: text('How it matches.', { enum: ['exact', 'prefix', 'regex'] }),
          value: text('Path, prefix or pattern.'),
        },
      },
      priority: count('Its priority.'),
      matches: flag('Everything else agrees too.'),
      failed: {
        type: 'object' as const,
        description: 'The first matcher that does not agree.',
        properties: {
          matcher: text('Kind of matcher.', {
            enum: ['path', 'listener', 'hostnames', 'methods', 'grpc', 'scheme', 'port', 'header', 'query', 'cel'],
          }),
          wanted: text('What it asks for.'),
          found: text('What the request has there.', { nullable: true }),
        },
      },
      rankedBehind: {
        type: 'object' as const,
        description: 'Of an entry that matches and does not win: the key by which the winner ranks before it.',
        required: ['key', 'winner', 'own'],
        properties: {
          key: text('Key of the order of evaluation; the first in which they differ.', {
            enum: [
              ...[
                'priority',
                'path',
                'prefixLength',
                'headers',
                'hostnames',
                'queryParams',
                'methods',
                'grpc',
                'scheme',
                'port',
                'cel',
              ],
              ...['membership', 'groupName', 'position', 'routeName', 'routeId'],
            ],
          }),
          winner: rank('Value of the winner.'),
          own: rank('Value of this entry.'),
        },
      },
    },
  },
  ExplainMiddleware: {
    type: 'object' as const,
    description: 'A middleware of the winning entry.',
    required: ['id', 'runs', 'because'],
    properties: {
      id: text('Id.'),
      name: text('Name.'),
      type: text('Type.'),
      runs: flag('Whether it takes part.'),
      because: text('What decided; `notReached` when a middleware before it answers.', {
        enum: ['always', 'disabled', 'skipWhen', 'onlyWhen', 'notReached'],
      }),
      expression: text('The expression that decided.'),
      conditions: {
        type: 'array' as const,
        description: 'What each condition gives.',
        items: {
          type: 'object' as const,
          properties: {
            field: text('Where it stands.', { enum: ['skipWhen', 'onlyWhen'] }),
            expression: text('The expression.'),
            value: {
              type: 'boolean' as const,
              nullable: true,
              description: 'Null for one that cannot be decided: `skipWhen` does not skip then, and `onlyWhen` runs.',
            },
            failed: text('Why it cannot be decided: it fails, or takes too many steps.', {
              enum: ['error', 'exhausted'],
            }),
          },
        },
      },
      effect: {
        type: 'object' as const,
        description:
          'What it would do, when it runs: `passes` with the `changes` to request headers and the `consumer` that it finds, `answers` with `status`, or ' +
          '`unknown` when the request alone does not tell.',
        properties: { kind: text('Kind.', { enum: ['passes', 'answers', 'unknown'] }) },
        additionalProperties: true,
      },
    },
  },
  Explanation: {
    type: 'object' as const,
    description: 'Why a request is answered as it is.',
    required: [
      ...[
        'snapshot',
        'request',
        'listener',
        'priority',
        'winner',
        'candidates',
        'candidatesLeftOut',
        'nearest',
        'middlewares',
        'outcome',
      ],
      'notes',
    ],
    properties: {
      snapshot: text('`staged`, or the id of the snapshot.'),
      request: {
        type: 'object' as const,
        description: 'The request as matchers see it: canonical path, host without port.',
        properties: { method: text('Method.'), host: text('Host.'), path: text('Path.'), clientIp: text('Client.') },
      },
      listener: {
        type: 'object' as const,
        nullable: true,
        description: 'Listener that the request comes in on, and the section of its host; null where there is none.',
        required: ['id', 'name', 'port', 'section'],
        properties: {
          id: text('Id.'),
          name: text('Name.'),
          port: count('Port.'),
          section: text('Name of the section; empty where the listener has none, or none for the host.'),
        },
      },
      priority: { ...count('Priority of the route that wins; null when none does.'), nullable: true },
      winner: {
        type: 'object' as const,
        nullable: true,
        description: 'The entry that serves the request; null when none does.',
        required: ['route'],
        properties: { route: named('Its route.'), group: named('Its group.') },
      },
      candidates: {
        type: 'array' as const,
        description: 'In the order in which they are asked.',
        items: { $ref: '#/components/schemas/ExplainCandidate' },
      },
      nearest: {
        type: 'array' as const,
        description: 'Where nothing matches: up to five entries that come nearest, each with what fails first.',
        items: { $ref: '#/components/schemas/ExplainCandidate' },
      },
      candidatesLeftOut: count('Candidates beyond the first hundred.'),
      middlewares: {
        type: 'array' as const,
        description: 'Outermost first.',
        items: { $ref: '#/components/schemas/ExplainMiddleware' },
      },
      outcome: {
        type: 'object' as const,
        description:
          'What becomes of the request: `forward` with `destinations` and `upstream` {method, target, host, changes}, `redirect` ' +
          'with `status` and `location`, `directResponse` with `status`, `middleware` with `id` and `status` when one answers, ' +
          'or `error` with `status`, `error` and, where an error page is its body, `page` {of: `route` or `listener`, contentType}.',
        required: ['action'],
        properties: {
          action: text('Kind.', { enum: ['forward', 'redirect', 'directResponse', 'middleware', 'error'] }),
        },
        additionalProperties: true,
      },
      choice: {
        type: 'object' as const,
        description:
          'Of a request that would be forwarded: `algorithm` and `destination` of the route (null while it is left to ' +
          'chance or to a session), and `destinations`, each with its own algorithm, the text that is hashed and its key, ' +
          'where a signed cookie decides what it is worth (`cookie`), the endpoint (null as before), its circuit, and its endpoints: which of them serve, and why the others do not. ' +
          'A share with a fixed answer is `directResponse` {status} and `weight`.',
        required: ['algorithm', 'destination', 'destinations'],
        properties: {
          algorithm: text('How one of several destinations is chosen.'),
          destination: text('Id of the destination.', { nullable: true }),
          destinations: { type: 'array' as const, items: { type: 'object' as const, additionalProperties: true } },
        },
      },
      notes: {
        type: 'array' as const,
        description: 'What could not be taken into account.',
        items: { type: 'string' as const },
      },
    },
  },
  StreamExplanation: {
    type: 'object' as const,
    description: 'Where a connection of a listener of protocol tcp goes, and why.',
    required: ['snapshot', 'connection', 'listener', 'streamRoute', 'outcome', 'notes'],
    properties: {
      snapshot: text('`staged`, or the id of the snapshot.'),
      connection: {
        type: 'object' as const,
        description: 'The connection as it is matched.',
        required: ['sni', 'clientIp'],
        properties: { sni: text('Server name; empty: none.'), clientIp: text('Client.') },
      },
      listener: {
        type: 'object' as const,
        description: 'Listener that is named, and the section of the server name.',
        required: ['id', 'name', 'port', 'section'],
        properties: {
          id: text('Id.'),
          name: text('Name.'),
          port: count('Port.'),
          section: text('Name of the section; empty where the listener has none, or none for the name.'),
        },
      },
      streamRoute: {
        type: 'object' as const,
        nullable: true,
        description: 'Stream route that serves the connection; null where none matches.',
        required: ['id', 'name'],
        properties: { id: text('Id.'), name: text('Name.') },
      },
      outcome: {
        type: 'object' as const,
        description:
          'What becomes of the connection: `stream` with `destinations`, as in an explanation of a request, or `close` ' +
          'with `error`.',
        required: ['action'],
        properties: { action: text('Kind.', { enum: ['stream', 'close'] }) },
        additionalProperties: true,
      },
      notes: {
        type: 'array' as const,
        description: 'What could not be taken into account.',
        items: { type: 'string' as const },
      },
    },
  },
};
