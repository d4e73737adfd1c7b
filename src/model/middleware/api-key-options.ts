// Middleware type apiKey: only requests with the key of a consumer pass (contract.md §8.12).
import { anyOf, has } from '../constraint.ts';
import { apiKeyDefaults } from '../defaults.ts';
import { Flag, Nested, Text, Token } from '../field.ts';
import { problemIf, Rules } from '../rule.ts';

@Rules<ApiKeySources>(
  {
    hasOne: ({ header, query, cookie }) =>
      problemIf((header ?? query ?? cookie) === undefined, '', 'must have one of header, query, cookie'),
  },
  anyOf(has('header'), has('query'), has('cookie')),
)
export class ApiKeySources {
  @Token('Request header with the key. In Authorization it stands behind the scheme Bearer or ApiKey, or alone.', {
    example: 'x-api-key',
  })
  readonly header?: string;

  @Text('Parameter of the query with the key.', { example: 'api_key' })
  readonly query?: string;

  @Token('Cookie with the key.', { example: 'api_key' })
  readonly cookie?: string;
}

export class ApiKeyConfig {
  @Nested(ApiKeySources, 'Where keys are read. Two different keys in one request are refused.', { required: true })
  readonly sources!: ApiKeySources;

  @Flag('Leave the key in place for what follows.', { default: apiKeyDefaults.forwardKey })
  readonly forwardKey?: boolean;

  @Token('Request header that names the consumer. A value that the client sent is removed.', {
    example: 'x-consumer',
  })
  readonly consumerHeader?: string;
}
