// Middleware type rateLimit (contract.md §8.2): a bucket of tokens per client address, one set for all routes and
// workers that share the middleware.
import type { RateLimitConfig } from '../../model/middleware/rate-limit-options.ts';
import type { MiddlewareExchange, MiddlewarePhases } from '../exchange/phase.ts';
import { allValues } from '../fields/field-lines.ts';
import { TrustedProxies } from '../message/client-address.ts';
import { addressKey, type TokenBuckets } from '../shared/token-buckets.ts';
import { rejection } from './rejection.ts';

/** `nowMs` counts alike in every thread of the process. */
export function buildRateLimit(
  config: RateLimitConfig,
): (buckets: TokenBuckets, nowMs: () => number) => MiddlewarePhases {
  const clientOf = compileClient(config.trustedProxies ?? []);
  return (buckets, nowMs) => ({
    onRequest(exchange) {
      const waitMs = buckets.take(addressKey(clientOf(exchange)), nowMs());
      if (waitMs === 0) return undefined;
      return rejection(429, 'rate limit exceeded', ['Retry-After', String(Math.ceil(waitMs / 1000))]);
    },
  });
}

/**
 * Compiles the client's address. Without a list of its own a limiter counts by the same address as the rest of the
 * proxy (architecture.md §6.9, §6.28).
 */
function compileClient(trustedProxies: readonly string[]): (exchange: MiddlewareExchange) => string {
  if (trustedProxies.length === 0) return ({ request }) => request.clientIp;
  const trusted = new TrustedProxies(trustedProxies);
  return ({ request }) => {
    const forwardedFor = allValues(request.lines, 'x-forwarded-for').join(',');
    return trusted.locate(request.sender().peerIp, forwardedFor).clientIp;
  };
}
