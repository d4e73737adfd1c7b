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

interface Block {
  readonly memory: SharedArrayBuffer;
  /** The cluster shares what it counts: parts of it may be given back after the end of the limiter. */
  readonly isLeased: boolean;
}

export class BucketAllocator {
  readonly #blocks = new Map<string, Block>();
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
      const newBlock = isLeased(limiter.rateLimit)
        ? () => ({ memory: LeasedBuckets.memory(Math.min(places, leasedRowsMax)), isLeased: true })
        : () => ({ memory: this.#memory(places), isLeased: false });
      return limitContents(limiter).map((content) => this.#blockOf(content, newBlock));
    };
    return new Map(limiters.map((limiter) => [limiter.id, blocksOf(limiter)]));
  }

  /** Forgets the blocks of all others. */
  keep(middlewares: readonly Middleware[]): void {
    const kept = new Set(middlewares.filter(isLimiter).flatMap(limitContents));
    let spareBytes = this.#spare.reduce((sum, { byteLength }) => sum + byteLength, 0);
    for (const [content, { memory, isLeased }] of this.#blocks) {
      if (kept.has(content)) continue;
      this.#blocks.delete(content);
      if (isLeased || spareBytes + memory.byteLength > spareMax) continue;
      spareBytes += memory.byteLength;
      this.#spare.push(memory);
    }
  }

  #blockOf(content: string, newBlock: () => Block): SharedArrayBuffer {
    const block = this.#blocks.get(content) ?? newBlock();
    this.#blocks.set(content, block);
    return block.memory;
  }

  #memory(places: number): SharedArrayBuffer {
    const bytes = TokenBuckets.bytesOf(places);
    const at = this.#spare.findIndex(({ byteLength }) => byteLength === bytes);
    const [spare] = at < 0 ? [] : this.#spare.splice(at, 1);
    if (spare === undefined) return TokenBuckets.memory(places);
    new Uint8Array(spare).fill(0);
    return spare;
  }
}

const isLimiter = ({ type }: Middleware): boolean => type === 'rateLimit';
