// Middleware type rateLimit: a token bucket per client address (contract.md §8.2).
import { rateLimitDefaults } from '../defaults.ts';
import { Decimal, ListOf, Uint } from '../field.ts';
import { cidr } from '../scalar.ts';

export class RateLimitConfig {
  @Decimal('Tokens per second, fractions allowed. 0 or less: the default.', {
    default: rateLimitDefaults.requestsPerSecond,
  })
  readonly requestsPerSecond?: number;

  @Uint('Size of the bucket. Absent or 0: requestsPerSecond rounded up, at least 1.')
  readonly burst?: number;

  @ListOf(cidr, 'Peers whose X-Forwarded-For is believed. When not empty it wins over the list of the listener.', {
    default: rateLimitDefaults.trustedProxies,
  })
  readonly trustedProxies?: readonly string[];
}
