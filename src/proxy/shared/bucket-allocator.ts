// Allocator of the blocks of memory that hold the buckets of limiters. Main keeps it and hands the blocks to the
// workers with each configuration: a limiter whose own settings did not change goes on with the buckets it has.
import { rateLimitDefaults } from '../../model/defaults.ts';
import type { RateLimitConfig } from '../../model/middleware/rate-limit-options.ts';
import type { Middleware } from '../../model/middleware.ts';
import { type BucketRate, placesMax, TokenBuckets } from './token-buckets.ts';

/** By id of the middleware. */
export type BucketBlocks = ReadonlyMap<string, SharedArrayBuffer>;

/** All limiters together: beyond, each new one gets a smaller block. In bytes. */
const memoryMax = 512 * 1024 * 1024;
const placesMin = 1024;

export class BucketAllocator {
  readonly #blocks = new Map<string, SharedArrayBuffer>();

  /** Blocks for every limiter among them; those that are known keep theirs. */
  blocksFor(middlewares: readonly Middleware[]): BucketBlocks {
    const limiters = middlewares.filter(isLimiter);
    const share = memoryMax / 16 / Math.max(1, limiters.length);
    const places = Math.min(placesMax, Math.max(placesMin, 2 ** Math.floor(Math.log2(share))));
    return new Map(limiters.map((limiter) => [limiter.id, this.#blockOf(contentOf(limiter), places)]));
  }

  /** Forgets the blocks of all others. */
  keep(middlewares: readonly Middleware[]): void {
    const kept = new Set(middlewares.filter(isLimiter).map(contentOf));
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

/** The bucket that a limiter's settings ask for. */
export function rateOf({ requestsPerSecond = 0, burst = 0 }: RateLimitConfig): BucketRate {
  const rate = requestsPerSecond > 0 ? requestsPerSecond : rateLimitDefaults.requestsPerSecond;
  return { requestsPerSecond: rate, burst: burst > 0 ? burst : Math.max(1, Math.ceil(rate)) };
}

const isLimiter = ({ type }: Middleware): boolean => type === 'rateLimit';

/** Trusted proxies are left out: they decide which bucket a request takes from, not its content. */
const contentOf = ({ id, rateLimit }: Middleware): string => JSON.stringify([id, rateOf(rateLimit ?? {})]);
