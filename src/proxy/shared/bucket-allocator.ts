// Allocator of the blocks of memory that hold the buckets of limiters. Main keeps it and hands the blocks to the
// workers with each configuration: a limiter whose own settings did not change goes on with the buckets it has.
import { rateLimitDefaults } from '../../model/defaults.ts';
import type { RateLimitConfig, RateLimitWindow } from '../../model/middleware/rate-limit-options.ts';
import type { Middleware } from '../../model/middleware.ts';
import { durationMs } from '../parsed-duration.ts';
import { type BucketRate, placesMax, TokenBuckets } from './token-buckets.ts';

/** By id of the middleware, a block for each of its limits. */
export type BucketBlocks = ReadonlyMap<string, readonly SharedArrayBuffer[]>;

/** All limiters together: beyond, each new one gets a smaller block. In bytes. */
const memoryMax = 512 * 1024 * 1024;
const placesMin = 1024;

export class BucketAllocator {
  readonly #blocks = new Map<string, SharedArrayBuffer>();

  /** Blocks for every limiter among them; those that are known keep theirs. */
  blocksFor(middlewares: readonly Middleware[]): BucketBlocks {
    const limiters = middlewares.filter(isLimiter);
    const limits = limiters.flatMap(contentsOf);
    const share = memoryMax / 16 / Math.max(1, limits.length);
    const places = Math.min(placesMax, Math.max(placesMin, 2 ** Math.floor(Math.log2(share))));
    const blocksOf = (limiter: Middleware) => contentsOf(limiter).map((content) => this.#blockOf(content, places));
    return new Map(limiters.map((limiter) => [limiter.id, blocksOf(limiter)]));
  }

  /** Forgets the blocks of all others. */
  keep(middlewares: readonly Middleware[]): void {
    const kept = new Set(middlewares.filter(isLimiter).flatMap(contentsOf));
    for (const content of this.#blocks.keys()) if (!kept.has(content)) this.#blocks.delete(content);
  }

  #blockOf(content: string, places: number): SharedArrayBuffer {
    const known = this.#blocks.get(content);
    if (known !== undefined) return known;
    const block = TokenBuckets.memory(places);
    this.#blocks.set(content, block);
    return block;
  }
}

/** Buckets that a limiter's settings ask for, one for each limit. */
export function ratesOf(config: RateLimitConfig): readonly BucketRate[] {
  return config.limits?.map(windowRate) ?? [rateOf(config)];
}

const windowRate = ({ requests, per, burst = 0 }: RateLimitWindow): BucketRate => ({
  requestsPerSecond: (requests * 1000) / durationMs(per, 1000),
  burst: burst > 0 ? burst : requests,
});

function rateOf({ requestsPerSecond = 0, burst = 0 }: RateLimitConfig): BucketRate {
  const rate = requestsPerSecond > 0 ? requestsPerSecond : rateLimitDefaults.requestsPerSecond;
  return { requestsPerSecond: rate, burst: burst > 0 ? burst : Math.max(1, Math.ceil(rate)) };
}

const isLimiter = ({ type }: Middleware): boolean => type === 'rateLimit';

/**
 * Contents that each limit keeps its block by: another key counts something else, and two limits alike have a block
 * each. Trusted proxies are left out: they decide which bucket a request takes from, not its content.
 */
function contentsOf({ id, rateLimit }: Middleware): readonly string[] {
  const seen = new Map<string, number>();
  return ratesOf(rateLimit ?? {}).map((rate) => {
    const content = JSON.stringify([id, rate, rateLimit?.key]);
    const former = seen.get(content) ?? 0;
    seen.set(content, former + 1);
    return former === 0 ? content : `${content} ${former}`;
  });
}
