// The worker's end of what main keeps for the middlewares of all workers.
import type { Clock } from '../../util/clock.ts';
import { type LineBatch, LineBatches } from '../access-log/line-batches.ts';
import { KeySets } from '../middleware/jwt/key-source.ts';
import type { CommonServices } from '../middleware/services.ts';
import { type BucketBlocks, ratesOf } from '../shared/bucket-allocator.ts';
import { TokenBuckets } from '../shared/token-buckets.ts';

export interface WorkerServicesOptions {
  readonly clock: Clock;
  /** Seed of the process: see TokenBuckets. */
  readonly seed: number;
  /** Milliseconds that count alike in all workers, beside those of the clock. */
  readonly offsetMs: number;
  /** Answered by `keys.receive`. */
  readonly wantKeys: (id: string) => void;
  /** Answered by `lines.written`. */
  readonly sendLines: (batch: LineBatch) => void;
}

export class WorkerServices {
  readonly keys: KeySets;
  readonly lines: LineBatches;
  readonly services: CommonServices;
  /** Memory of the rate limits of the configuration that is being prepared, or was last. */
  blocks: BucketBlocks = new Map();

  constructor({ clock, seed, offsetMs, wantKeys, sendLines }: WorkerServicesOptions) {
    this.keys = new KeySets(clock, wantKeys);
    this.lines = new LineBatches(clock, sendLines);
    this.services = {
      bucketsOf: ({ id, rateLimit = {} }) => {
        const blocks = this.blocks.get(id);
        return ratesOf(rateLimit).map((rate, place) => {
          const block = blocks?.[place];
          if (block === undefined) throw new Error(`the limiter ${id} has no memory`);
          return new TokenBuckets(block, rate, seed);
        });
      },
      commonMs: () => clock.monotonicMs() + offsetMs,
      keysNamed: (name, withinMs) => this.keys.sourceOf(name, withinMs),
      linesTo: (path) => this.lines.sinkOf(path),
    };
  }
}
