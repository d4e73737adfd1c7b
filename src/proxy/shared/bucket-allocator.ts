// Allocator of the blocks of memory that hold the buckets of limiters. Main keeps it and hands the blocks to the
// workers with each configuration: a limiter whose own settings did not change goes on with the buckets it has.
import { isLeased, limitContents } from '../../model/limit-rates.ts';
import type { Middleware } from '../../model/middleware.ts';
import { LeasedBuckets, leasedRowsMax } from './leased-buckets.ts';
import { placesMax, TokenBuckets } from './token-buckets.ts';

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
    const limits = limiters.flatMap(limitContents);
    const share = memoryMax / 16 / Math.max(1, limits.length);
    const places = Math.min(placesMax, Math.max(placesMin, 2 ** Math.floor(Math.log2(share))));
    const blocksOf = (limiter: Middleware) => {
      const newBlock = isLeased(limiter.rateLimit)
        ? () => LeasedBuckets.memory(Math.min(places, leasedRowsMax))
        : () => TokenBuckets.memory(places);
      return limitContents(limiter).map((content) => this.#blockOf(content, newBlock));
    };
    return new Map(limiters.map((limiter) => [limiter.id, blocksOf(limiter)]));
  }

  /** Forgets the blocks of all others. */
  keep(middlewares: readonly Middleware[]): void {
    const kept = new Set(middlewares.filter(isLimiter).flatMap(limitContents));
    for (const content of this.#blocks.keys()) if (!kept.has(content)) this.#blocks.delete(content);
  }

  #blockOf(content: string, newBlock: () => SharedArrayBuffer): SharedArrayBuffer {
    const known = this.#blocks.get(content);
    if (known !== undefined) return known;
    const block = newBlock();
    this.#blocks.set(content, block);
    return block;
  }
}

const isLimiter = ({ type }: Middleware): boolean => type === 'rateLimit';
