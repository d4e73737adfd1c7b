// Middleware type jwt: only requests with a valid token pass (contract.md §8.4).
import { exactlyOneOf, has, whenever } from '../constraint.ts';
import { jwtDefaults } from '../defaults.ts';
import { Cel, Duration, Flag, ListOf, Reference, Target, Text, Token } from '../field.ts';
import { problemIf, Rules } from '../rule.ts';
import { cel, text } from '../scalar.ts';

const expressionsMax = 256;

export class ClaimToHeader {
  @Cel('claims', 'any', 'Expression over `claims` and `now` whose value is sent.', {
    required: true,
    example: 'claims.sub',
  })
  readonly expr!: string;

  @Token('Request header to set. A value that the client sent is removed first.', { required: true, example: 'x-user' })
  readonly header!: string;
}

@Rules<JwtConfig>(
  {
    exactlyOneSource: ({ jwksPath, jwksInline }) => [
      ...problemIf(jwksPath === undefined && jwksInline === undefined, '', 'must have one of jwksPath, jwksInline'),
      ...problemIf(jwksPath !== undefined && jwksInline !== undefined, '/jwksInline', 'must not stand beside jwksPath'),
    ],
    pathNeedsDestination: ({ jwksPath, jwksDestinationId }) =>
      problemIf(
        jwksPath !== undefined && jwksDestinationId === undefined,
        '/jwksDestinationId',
        'is required with jwksPath',
      ),
  },
  exactlyOneOf(has('jwksPath'), has('jwksInline')),
  whenever(has('jwksPath'), has('jwksDestinationId')),
)
export class JwtConfig {
  @Text('What the `iss` claim must be.', { required: true, example: 'https://login.example.com/' })
  readonly issuer!: string;

  @ListOf(text, 'Values of which the `aud` claim must hold one. Empty: not checked.', { default: [] })
  readonly audiences?: readonly string[];

  @Target('Where the keys are on the destination.', { example: '/.well-known/jwks.json' })
  readonly jwksPath?: string;

  @Reference('Id of the destination that serves the keys.')
  readonly jwksDestinationId?: string;

  @Text('The keys themselves: a JWKS document as text, or a public key in PEM.')
  readonly jwksInline?: string;

  @Duration('Time to fetch the keys. 0: no limit.', { default: jwtDefaults.jwksRetrievalTimeout })
  readonly jwksRetrievalTimeout?: string;

  @Flag('Leave the Authorization header in place for what follows.', { default: jwtDefaults.forwardJwt })
  readonly forwardJwt?: boolean;

  @ListOf(ClaimToHeader, 'Claims that are sent on as request headers.', { lengthMax: expressionsMax })
  readonly claimToHeaders?: readonly ClaimToHeader[];

  @ListOf(cel('claims'), 'Conditions over `claims` and `now` that must all be true.', { lengthMax: expressionsMax })
  readonly assertClaims?: readonly string[];
}
