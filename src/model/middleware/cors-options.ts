// Middleware type cors: cross-origin requests of browsers (contract.md §8.1).
import { corsDefaults } from '../defaults.ts';
import { Flag, Line, ListOf, Uint } from '../field.ts';
import { valueIsRegex } from '../matcher.ts';
import { Rules } from '../rule.ts';
import { method, namePattern } from '../scalar.ts';

@Rules<AllowOrigin>({ valueIsRegex })
export class AllowOrigin {
  @Line('Origin, exact, or `*` for any.', { required: true, example: 'https://shop.example.com' })
  readonly value!: string;

  @Flag('Read `value` as a regular expression that matches the whole origin.', { default: false })
  readonly regex?: boolean;
}

export class CorsConfig {
  @ListOf(AllowOrigin, 'Origins that may read responses.', { default: [], lengthMax: 256 })
  readonly allowOrigins?: readonly AllowOrigin[];

  @ListOf(
    method,
    'Methods that a preflight allows, stored in upper case. `*` with credentials: the one that was asked for.',
  )
  readonly allowMethods?: readonly string[];

  @ListOf(namePattern, 'Request headers that a preflight allows. `*` with credentials: those that were asked for.')
  readonly allowHeaders?: readonly string[];

  @ListOf(namePattern, 'Response headers that scripts may read.')
  readonly exposeHeaders?: readonly string[];

  @Uint('Seconds that a browser may keep a preflight. 0: no header.', { default: corsDefaults.maxAge })
  readonly maxAge?: number;

  @Flag('Whether credentials may be sent.', { default: corsDefaults.allowCredentials })
  readonly allowCredentials?: boolean;
}
