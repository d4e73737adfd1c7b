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
/** Blocks of former limiters that wait for new ones, in bytes. */
const spareMax = 64 * 1024 * 1024;

export class BucketAllocator {
  readonly #blocks = new Map<string, SharedArrayBuffer>();
  /**
   * Blocks of former limiters. Garbage collectors do not know how large shared memory is: blocks that were left to them
   * would fill the process, activation by activation. A request that still passes a former limiter takes its token from the
   * new one.
   */
  readonly #spare: SharedArrayBuffer[] = [];

  /** Blocks for every limiter among them; those that are known keep theirs. */
  blocksFor(middlewares: readonly Middleware[]): BucketBlocks {
    const limiters = middlewares.filter(isLimiter);
    const limits = limiters.flatMap(limitContents);
    const share = memoryMax / 16 / Math.max(1, limits.length);
    const places = Math.min(placesMax, Math.max(placesMin, 2 ** Math.floor(Math.log2(share))));
    const blocksOf = (limiter: Middleware) => {
      const bytes = isLeased(limiter.rateLimit)
        ? LeasedBuckets.bytesOf(Math.min(places, leasedRowsMax))
        : TokenBuckets.bytesOf(places);
      return limitContents(limiter).map((content) => this.#blockOf(content, bytes));
    };
    return new Map(limiters.map((limiter) => [limiter.id, blocksOf(limiter)]));
  }

  /**
   * Forgets the blocks of all others. `held`: blocks of which parts are still to be given back to the cluster; the limit of
   * one has it again if it comes back.
   */
  keep(middlewares: readonly Middleware[], held: ReadonlySet<SharedArrayBuffer>): void {
    const kept = new Set(middlewares.filter(isLimiter).flatMap(limitContents));
    let spareBytes = this.#spare.reduce((sum, { byteLength }) => sum + byteLength, 0);
    for (const [content, memory] of this.#blocks) {
      if (kept.has(content) || held.has(memory)) continue;
      this.#blocks.delete(content);
      if (spareBytes + memory.byteLength > spareMax) continue;
      spareBytes += memory.byteLength;
      this.#spare.push(memory);
    }
  }

  #blockOf(content: string, bytes: number): SharedArrayBuffer {
    const block = this.#blocks.get(content) ?? this.#memory(bytes);
    this.#blocks.set(content, block);
    return block;
  }

  #memory(bytes: number): SharedArrayBuffer {
    const at = this.#spare.findIndex(({ byteLength }) => byteLength === bytes);
    const [spare] = at < 0 ? [] : this.#spare.splice(at, 1);
    if (spare === undefined) return new SharedArrayBuffer(bytes);
    new Uint8Array(spare).fill(0);
    return spare;
  }
}

const isLimiter = ({ type }: Middleware): boolean => type === 'rateLimit';
