// Rewrite of a forwarded request for the upstream (contract.md §2.4.4, §7.2).
import { atMostOneOf, has, isTrue } from './constraint.ts';
import { Authority, Flag, Nested, PathAndQuery, Regex, Substitution, Token } from './field.ts';
import { problemIf, Rules } from './rule.ts';

export class PathRegexRewrite {
  @Regex('Pattern whose first match is replaced.', { required: true, example: '^/v1/(.*)$' })
  readonly pattern!: string;

  @Substitution('What takes its place; `\\1` and `$1` are its groups. May be empty.', {
    required: true,
    example: '/\\1',
  })
  readonly substitution!: string;
}

@Rules<Rewrite>(
  {
    atMostOnePathRewrite: ({ path, pathRegex }) =>
      problemIf(path !== undefined && pathRegex !== undefined, '/pathRegex', 'must not stand beside path'),
    atMostOneHostRewrite: (rewrite) => {
      const present = (['host', 'hostFromHeader', 'autoHost'] as const).filter(
        (name) => rewrite[name] !== undefined && rewrite[name] !== false,
      );
      return problemIf(present.length > 1, `/${present[1]}`, `must not stand beside ${present[0]}`);
    },
  },
  atMostOneOf(has('path'), has('pathRegex')),
  atMostOneOf(has('host'), has('hostFromHeader'), isTrue('autoHost')),
)
export class Rewrite {
  @PathAndQuery('Replaces the part of the path that matched; what follows a `?` goes before the query.', {
    example: '/internal',
  })
  readonly path?: string;

  @Nested(PathRegexRewrite, 'Replaces a part of the path that a pattern finds.')
  readonly pathRegex?: PathRegexRewrite;

  @Authority('Host header to send, with or without a port.')
  readonly host?: string;

  @Token('Request header whose value is sent as the Host header.')
  readonly hostFromHeader?: string;

  @Flag('Send the host of the destination as the Host header.', { default: false })
  readonly autoHost?: boolean;
}
