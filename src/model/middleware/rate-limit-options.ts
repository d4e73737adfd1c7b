// Middleware type rateLimit: token buckets per client address, or per text of an expression (contract.md §8.2).
import { rateLimitDefaults } from '../defaults.ts';
import { Cel, Decimal, LimitPeriod, ListOf, OneOf, Uint } from '../field.ts';
import { problemIf, Rules } from '../rule.ts';
import { cidr } from '../scalar.ts';

export const rateLimitScopes = ['process', 'cluster', 'redis'] as const;

const failureModes = ['process', 'deny', 'allow'] as const;

export type RateLimitFailureMode = (typeof failureModes)[number];

export class RateLimitWindow {
  @Uint('Tokens that come back in `per`.', { required: true, min: 1, example: 100 })
  readonly requests!: number;

  @LimitPeriod('Time in which `requests` tokens come back, 1s to 24h.', { required: true, example: '1m' })
  readonly per!: string;

  @Uint('Size of the bucket, full at first. Absent or 0: requests.')
  readonly burst?: number;
}

@Rules<RateLimitConfig>({
  hasOneRate: ({ limits, requestsPerSecond, burst }) => [
    ...problemIf(limits !== undefined && requestsPerSecond !== undefined, '/requestsPerSecond', besideLimits),
    ...problemIf(limits !== undefined && burst !== undefined, '/burst', besideLimits),
  ],
  hasOneKey: ({ key, trustedProxies = [] }) =>
    problemIf(key !== undefined && trustedProxies.length > 0, '/trustedProxies', 'must not be given beside key'),
})
export class RateLimitConfig {
  @Decimal('Tokens per second, fractions allowed. 0 or less: the default. Not beside limits.', {
    default: rateLimitDefaults.requestsPerSecond,
  })
  readonly requestsPerSecond?: number;

  @Uint('Size of the bucket. Absent or 0: requestsPerSecond rounded up, at least 1. Not beside limits.')
  readonly burst?: number;

  @ListOf(cidr, 'Peers whose X-Forwarded-For is believed. When not empty it wins over the list of the listener.', {
    default: rateLimitDefaults.trustedProxies,
  })
  readonly trustedProxies?: readonly string[];

  @Cel('request', 'string', 'Text whose requests share buckets. Absent: the address of the client.', {
    example: 'request.headers["x-tenant"]',
  })
  readonly key?: string;

  @ListOf(RateLimitWindow, 'Limits that must all allow the request; one that is refused takes from none.', {
    lengthMin: 1,
    lengthMax: 16,
  })
  readonly limits?: readonly RateLimitWindow[];

  @Cel('request', 'number', 'Tokens that the request takes from each limit. Absent: 1.', {
    example: 'request.method == "POST" ? 5 : 1',
  })
  readonly cost?: string;

  @OneOf(
    rateLimitScopes,
    'Extent of the buckets: the workers of one process, all proxies of the cluster together, or all proxies with one Redis.',
    {
      default: rateLimitDefaults.scope,
    },
  )
  readonly scope?: (typeof rateLimitScopes)[number];

  @OneOf(
    failureModes,
    'With scope redis, while it does not answer: count in the process, deny with 503, or allow without a limit.',
    { default: rateLimitDefaults.failureMode },
  )
  readonly failureMode?: RateLimitFailureMode;
}

const besideLimits = 'must not be given beside limits';
