// A group: what several routes share (contract.md §2.5).
import { atMostOneOf, has } from './constraint.ts';
import { groupDefaults } from './defaults.ts';
import { Entity } from './entity.ts';
import { Flag, ListOf, MapOf, Nested, PathLiteral, Regex } from './field.ts';
import { HeaderMatcher } from './matcher.ts';
import { MiddlewareOverride } from './middleware-override.ts';
import { Retry } from './retry.ts';
import { problemIf, Rules } from './rule.ts';
import { hostPattern, listenerReference, reference } from './scalar.ts';

@Rules<Group>(
  {
    atMostOnePathMatcher: ({ pathPrefix, pathRegex }) =>
      problemIf(pathPrefix !== undefined && pathRegex !== undefined, '/pathRegex', 'must not stand beside pathPrefix'),
  },
  atMostOneOf(has('pathPrefix'), has('pathRegex')),
)
export class Group extends Entity {
  static readonly summary = 'Routes with a condition, middlewares and a place in the order in common.';

  static readonly example = { id: 'public', name: 'public', pathPrefix: '/v1', routeIds: ['shop'] };

  @ListOf(reference, 'Ids of the routes. A route may be in several groups.', {
    default: [],
    emitted: true,
    distinct: true,
    lengthMax: Number.POSITIVE_INFINITY,
  })
  readonly routeIds?: readonly string[];

  @PathLiteral('Goes before the path matcher of each route.', { example: '/api/v1' })
  readonly pathPrefix?: string;

  @Regex('Goes before the path matcher of each route.', { example: '/(en|es)' })
  readonly pathRegex?: string;

  @ListOf(hostPattern, 'Host names in addition to those of each route.', { lengthMax: Number.POSITIVE_INFINITY })
  readonly hostnames?: readonly string[];

  @ListOf(
    listenerReference,
    'Listeners that the routes are bound to in this group, by id, or sections of them: `<listener>/<section>`. Empty: all. A route of its own `listenerIds` is bound to what both name.',
    { default: [], distinct: true, example: ['public'] },
  )
  readonly listenerIds?: readonly string[];

  @ListOf(HeaderMatcher, 'Headers that must match in addition to those of each route.', { lengthMax: 256 })
  readonly headers?: readonly HeaderMatcher[];

  @ListOf(reference, 'Ids of middlewares, outermost first, outside those of each route.', { distinct: true })
  readonly middlewareIds?: readonly string[];

  @MapOf(MiddlewareOverride, 'Changes to middlewares for these routes, by middleware id.')
  readonly middlewareOverrides?: Readonly<Record<string, MiddlewareOverride>>;

  @Nested(Retry, 'Used by routes whose forward has no retry.')
  readonly retryDefault?: Retry;

  @Flag('Send `X-Gateway-Attempt-Count` to the upstream.', { default: groupDefaults.includeAttemptCount })
  readonly includeAttemptCount?: boolean;
}
