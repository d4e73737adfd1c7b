// Limits of a rateLimit middleware as numbers: the rate and burst of each, and what names it across activations.
import { createHash } from 'node:crypto';
import { rateLimitDefaults } from './defaults.ts';
import { parseDuration } from './duration.ts';
import type { RateLimitConfig, RateLimitWindow } from './middleware/rate-limit-options.ts';
import type { Middleware } from './middleware.ts';

/** Fill rate of a limiter's buckets; the same in every worker. */
export interface BucketRate {
  readonly requestsPerSecond: number;
  /** Tokens in a full bucket; at least 1. */
  readonly burst: number;
}

/** One limit whose budgets the cluster shares. */
export interface LeasedLimit extends BucketRate {
  readonly id: string;
  /** Time in which a proxy that holds no part of a budget may let one request pass, in milliseconds. */
  readonly windowMs: number;
}

/** Buckets that a limiter's settings ask for, one for each limit. */
export function ratesOf(config: RateLimitConfig): readonly BucketRate[] {
  return config.limits?.map(windowRate) ?? [rateOf(config)];
}

const periodMs = ({ per }: RateLimitWindow): number => parseDuration(per) ?? 1000;

const windowRate = (limit: RateLimitWindow): BucketRate => ({
  requestsPerSecond: (limit.requests * 1000) / periodMs(limit),
  burst: (limit.burst ?? 0) > 0 ? (limit.burst ?? 0) : limit.requests,
});

function rateOf({ requestsPerSecond = 0, burst = 0 }: RateLimitConfig): BucketRate {
  const rate = requestsPerSecond > 0 ? requestsPerSecond : rateLimitDefaults.requestsPerSecond;
  return { requestsPerSecond: rate, burst: burst > 0 ? burst : Math.max(1, Math.ceil(rate)) };
}

/**
 * Contents that each limit keeps its block by: another key counts something else, and two limits alike have a block
 * each. Trusted proxies are left out: they decide which bucket a request takes from, not its content.
 */
export function limitContents({ id, rateLimit }: Middleware): readonly string[] {
  const seen = new Map<string, number>();
  const { scope: extent = rateLimitDefaults.scope } = rateLimit ?? {};
  const scope = extent === rateLimitDefaults.scope ? [] : [extent];
  return ratesOf(rateLimit ?? {}).map((rate) => {
    const content = JSON.stringify([id, rate, rateLimit?.key, ...scope]);
    const former = seen.get(content) ?? 0;
    seen.set(content, former + 1);
    return former === 0 ? content : `${content} ${former}`;
  });
}

export const isLeased = (config: RateLimitConfig | undefined): boolean => config?.scope === 'cluster';

export const isStored = (config: RateLimitConfig | undefined): boolean => config?.scope === 'redis';

/** Names of the limits of a limiter, the same in every proxy for the same settings. */
export const limitIds = (limiter: Middleware): readonly string[] => limitContents(limiter).map(limitId);

/** Returns the limits of those middlewares whose budgets the cluster shares. */
export function leasedLimits(middlewares: readonly Middleware[]): LeasedLimit[] {
  const leased = middlewares.filter(({ type, rateLimit }) => type === 'rateLimit' && isLeased(rateLimit));
  return leased.flatMap((middleware) => {
    const rates = ratesOf(middleware.rateLimit ?? {});
    return limitContents(middleware).map((content, place) => {
      const rate = rates[place] ?? { requestsPerSecond: rateLimitDefaults.requestsPerSecond, burst: 1 };
      const limit = middleware.rateLimit?.limits?.[place];
      const windowMs = Math.max(limit === undefined ? 1000 : periodMs(limit), 1000 / rate.requestsPerSecond);
      return { ...rate, id: limitId(content), windowMs };
    });
  });
}

const limitId = (content: string): string => createHash('sha256').update(content).digest('base64url').slice(0, 22);
