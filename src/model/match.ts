// Match of a route: which requests it is for (contract.md §2.4.1, §6). Every matcher that is there must agree.
import { atMostOneOf, has } from './constraint.ts';
import { Cel, Flag, ListOf, OneOf, PathLiteral, Port, Regex } from './field.ts';
import { HeaderMatcher, QueryParamMatcher } from './matcher.ts';
import { Closed, problemIf, Rules } from './rule.ts';
import { hostPattern, method } from './scalar.ts';

const matchersMax = 256;
const pathMatchers = ['path', 'pathPrefix', 'pathRegex'] as const;

@Closed()
@Rules<Match>(
  {
    atMostOnePathMatcher: (match) => {
      const present = pathMatchers.filter((name) => match[name] !== undefined);
      return problemIf(present.length > 1, `/${present[1]}`, `must not stand beside ${present[0]}`);
    },
  },
  atMostOneOf(has('path'), has('pathPrefix'), has('pathRegex')),
)
export class Match {
  @PathLiteral('The whole path, without a query.', { example: '/health' })
  readonly path?: string;

  @PathLiteral('Leading segments of the path: `/api` is for `/api`, `/api/` and `/api/x`, not for `/apix`.', {
    example: '/api',
  })
  readonly pathPrefix?: string;

  @Regex('Pattern that matches from the start of the path.', { example: '/users/[0-9]+' })
  readonly pathRegex?: string;

  @ListOf(method, 'Methods, stored in upper case and compared as they are. Empty: all.', {
    lengthMax: matchersMax,
    example: ['GET', 'HEAD'],
  })
  readonly methods?: readonly string[];

  @ListOf(hostPattern, 'Host names without port; `*.suffix` and `*` are understood. Empty: any.', {
    lengthMax: Number.POSITIVE_INFINITY,
    example: ['shop.example.com'],
  })
  readonly hostnames?: readonly string[];

  @ListOf(HeaderMatcher, 'Headers that must all match.', { lengthMax: matchersMax })
  readonly headers?: readonly HeaderMatcher[];

  @ListOf(QueryParamMatcher, 'Query parameters that must all match.', { lengthMax: matchersMax })
  readonly queryParams?: readonly QueryParamMatcher[];

  @Flag('Only requests whose Content-Type begins with `application/grpc`.', { default: false })
  readonly grpc?: boolean;

  @OneOf(
    ['http', 'https'],
    '`https`: only requests that came under TLS to the listener; `http`: only those that did not.',
  )
  readonly scheme?: 'http' | 'https';

  @Port('Port of the listener that accepted the connection, not the one that Host names.', { example: 8443 })
  readonly port?: number;

  @Cel('request', 'bool', 'Condition over `request`, evaluated when all else matches.', {
    example: 'request.headers["x-tenant"] == "a"',
  })
  readonly cel?: string;
}
