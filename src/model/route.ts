// A route: which requests, what is done with them, and what stands in between (contract.md §2.4).
import { anyOf, exactlyOneOf, has, isTrue } from './constraint.ts';
import { routeDefaults } from './defaults.ts';
import { DirectResponse } from './direct-response.ts';
import { Entity } from './entity.ts';
import { ErrorPage } from './error-page.ts';
import {
  Authority,
  Flag,
  ListOf,
  Location,
  MapOf,
  Nested,
  OneOf,
  OneOfNumbers,
  PathAndQuery,
  Port,
  Uint,
} from './field.ts';
import { Forward } from './forward.ts';
import { Match } from './match.ts';
import { MiddlewareOverride } from './middleware-override.ts';
import { problemIf, Rules } from './rule.ts';
import { listenerReference, reference, requestBodyBytesMax } from './scalar.ts';

export type { Forward } from './forward.ts';
export type { Match } from './match.ts';

export const redirectPathModes = ['prefix', 'full'] as const;

export const redirectCodes = [301, 302, 303, 307, 308] as const;

@Rules<Redirect>(
  {
    leadsElsewhere: ({ url, scheme, host, port, path, stripQuery }) =>
      problemIf(
        stripQuery !== true && [url, scheme, host, port, path].every((part) => part === undefined),
        '',
        'must set at least one of url, scheme, host, port, path, stripQuery: it would lead to itself',
      ),
  },
  anyOf(has('url'), has('scheme'), has('host'), has('port'), has('path'), isTrue('stripQuery')),
)
export class Redirect {
  @Location('Location as written, with what is not ASCII escaped; all other fields but `code` are ignored then.')
  readonly url?: string;

  @OneOf(['http', 'https'], 'Scheme of the Location. Absent: that of the request.')
  readonly scheme?: 'http' | 'https';

  @Authority('Host of the Location, with or without a port. Absent: that of the request.')
  readonly host?: string;

  @Port(
    'Port of the Location. Absent: that of `host`; without one that of the request, or none where the scheme changes. The port that belongs to the scheme is left out.',
  )
  readonly port?: number;

  @PathAndQuery(
    'Path of the Location; replaces the part that a prefix matched. What follows a `?` goes before the query. Absent: that of the request.',
  )
  readonly path?: string;

  @OneOf(
    redirectPathModes,
    '`prefix`: what follows the matched prefix is appended to `path`, to `/` as well. `full`: `path` replaces the whole path. Absent: as `prefix`, but `/` replaces the whole path.',
  )
  readonly pathMode?: (typeof redirectPathModes)[number];

  @Flag('Leave the query out of the Location.', { default: routeDefaults.redirect.stripQuery })
  readonly stripQuery?: boolean;

  @OneOfNumbers([0, ...redirectCodes], 'Status of the response. 0: the default.', {
    default: routeDefaults.redirect.code,
  })
  readonly code?: 0 | (typeof redirectCodes)[number];
}

const actions = ['forward', 'redirect', 'directResponse'] as const;

@Rules<Route>(
  {
    exactlyOneAction: (route) => {
      const present = actions.filter((name) => route[name] !== undefined);
      if (present.length === 0) return problemIf(true, '', 'must have one of forward, redirect, directResponse');
      return problemIf(present.length > 1, `/${present[1]}`, `must not stand beside ${present[0]}`);
    },
  },
  exactlyOneOf(has('forward'), has('redirect'), has('directResponse')),
)
export class Route extends Entity {
  static readonly summary = 'Which requests match, and what is done with them.';

  static readonly example = {
    id: 'shop',
    name: 'shop',
    match: { pathPrefix: '/shop', methods: ['GET', 'POST'] },
    forward: { destinations: [{ destinationId: 'backend' }], timeouts: { request: '30s' } },
  };

  @Nested(Match, 'Which requests. `{}`: all.', { default: {}, emitted: true })
  readonly match?: Match;

  @Flag('Serve no request with it. It stays in the configuration with all its fields, and is checked as any other.', {
    default: routeDefaults.disabled,
  })
  readonly disabled?: boolean;

  @Uint('Rank before everything else that orders routes: of two that match, the one with the higher priority wins.', {
    default: routeDefaults.priority,
  })
  readonly priority?: number;

  @ListOf(
    listenerReference,
    'Listeners that the route is bound to, by id, or sections of them: `<listener>/<section>`. Empty: all. Those of a group restrict them further.',
    { default: [], distinct: true, example: ['public/shop'] },
  )
  readonly listenerIds?: readonly string[];

  @Nested(Forward, 'Action: send the request on. Exactly one action is required.')
  readonly forward?: Forward;

  @Nested(Redirect, 'Action: answer with another location.')
  readonly redirect?: Redirect;

  @Nested(DirectResponse, 'Action: answer at once.')
  readonly directResponse?: DirectResponse;

  @Uint('Most bytes of a request body, in place of the limit of the listener; above it 413. 0: no limit.', {
    max: requestBodyBytesMax,
  })
  readonly maxRequestBodyBytes?: number;

  @ListOf(
    ErrorPage,
    'Bodies of errors by status; the first that names the status counts, before those of the listener.',
    {
      default: [],
      lengthMax: 100,
    },
  )
  readonly errorPages?: readonly ErrorPage[];

  @ListOf(reference, 'Ids of middlewares, outermost first, inside those of the group.', { default: [], distinct: true })
  readonly middlewareIds?: readonly string[];

  @MapOf(MiddlewareOverride, 'Changes to middlewares for this route, by middleware id.', { default: {} })
  readonly middlewareOverrides?: Readonly<Record<string, MiddlewareOverride>>;
}
