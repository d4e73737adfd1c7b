// A middleware: something that stands between a request and its action (contract.md §2.7, §8). Only the block named
// like `type` counts; the others are kept as they are.
import { Entity } from './entity.ts';
import { Nested, OneOf } from './field.ts';
import { AccessLogConfig } from './middleware/access-log-options.ts';
import { ApiKeyConfig } from './middleware/api-key-options.ts';
import { BasicAuthConfig } from './middleware/basic-auth-options.ts';
import { CompressConfig } from './middleware/compress-options.ts';
import { CorsConfig } from './middleware/cors-options.ts';
import { ExtAuthzConfig } from './middleware/ext-authz-options.ts';
import { ExtProcConfig } from './middleware/ext-proc-options.ts';
import { GrpcWebConfig } from './middleware/grpc-web-options.ts';
import { HeadersConfig } from './middleware/headers-options.ts';
import { InlineAuthzConfig } from './middleware/inline-authz-options.ts';
import { JwtConfig } from './middleware/jwt-options.ts';
import { RateLimitConfig } from './middleware/rate-limit-options.ts';
import { Closed, problemIf, Rules } from './rule.ts';

export const middlewareTypes = [
  'cors',
  'headers',
  'rateLimit',
  'jwt',
  'extAuthz',
  'extProc',
  'accessLog',
  'inlineAuthz',
  'compress',
  'basicAuth',
  'grpcWeb',
  'apiKey',
] as const;

export type MiddlewareType = (typeof middlewareTypes)[number];

/**
 * Types without effect when their block is absent, which is harmless; any other type would be a protection that is not
 * there.
 */
const mayLackBlock: readonly MiddlewareType[] = ['cors', 'headers', 'grpcWeb'];

@Closed()
@Rules<Middleware>({
  hasItsBlock: (middleware) => {
    const type = middlewareTypes.find((known) => known === middleware.type);
    const missing = type !== undefined && !mayLackBlock.includes(type) && middleware[type] === undefined;
    return problemIf(missing, `/${type}`, `is required when type is ${type}`);
  },
})
export class Middleware extends Entity {
  static readonly summary =
    'Steps before and behind forwarding: authentication, limits, headers, services that are asked.';

  static readonly example = {
    id: 'security-headers',
    name: 'security-headers',
    type: 'headers',
    headers: { responseHeadersToAdd: [{ key: 'x-content-type-options', value: 'nosniff' }] },
  };

  @OneOf(middlewareTypes, 'What the middleware does; the block of that name configures it.', {
    required: true,
    example: 'cors',
  })
  readonly type!: MiddlewareType;

  @Nested(CorsConfig, 'Cross-origin requests.', { when: { type: 'cors' } })
  readonly cors?: CorsConfig;

  @Nested(HeadersConfig, 'Changes to request and response headers.', { when: { type: 'headers' } })
  readonly headers?: HeadersConfig;

  @Nested(RateLimitConfig, 'Requests per time, of a client or of any key.', {
    when: { type: 'rateLimit' },
    needed: true,
  })
  readonly rateLimit?: RateLimitConfig;

  @Nested(JwtConfig, 'JSON Web Tokens.', { when: { type: 'jwt' }, needed: true })
  readonly jwt?: JwtConfig;

  @Nested(ExtAuthzConfig, 'A service that allows or denies.', { when: { type: 'extAuthz' }, needed: true })
  readonly extAuthz?: ExtAuthzConfig;

  @Nested(ExtProcConfig, 'A service that reads and changes requests and responses.', {
    when: { type: 'extProc' },
    needed: true,
  })
  readonly extProc?: ExtProcConfig;

  @Nested(AccessLogConfig, 'A line per request and response.', { when: { type: 'accessLog' }, needed: true })
  readonly accessLog?: AccessLogConfig;

  @Nested(InlineAuthzConfig, 'Rules that allow or deny.', { when: { type: 'inlineAuthz' }, needed: true })
  readonly inlineAuthz?: InlineAuthzConfig;

  @Nested(CompressConfig, 'Content codings of responses.', { when: { type: 'compress' }, needed: true })
  readonly compress?: CompressConfig;

  @Nested(BasicAuthConfig, 'Users and their passwords.', { when: { type: 'basicAuth' }, needed: true })
  readonly basicAuth?: BasicAuthConfig;

  @Nested(GrpcWebConfig, 'gRPC-Web of browsers; no settings.', { when: { type: 'grpcWeb' } })
  readonly grpcWeb?: GrpcWebConfig;

  @Nested(ApiKeyConfig, 'Keys of consumers.', { when: { type: 'apiKey' }, needed: true })
  readonly apiKey?: ApiKeyConfig;
}
