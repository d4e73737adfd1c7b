// The worker's end of what main keeps for the middlewares of all workers.

import { leasedLimits, ratesOf } from '../../model/limit-rates.ts';
import type { Clock } from '../../util/clock.ts';
import { type LineBatch, LineBatches } from '../access-log/line-batches.ts';
import { LeaseWaits } from '../lease/lease-waits.ts';
import type { WantedLease } from '../lease/wanted-lease.ts';
import { KeySets } from '../middleware/jwt/key-source.ts';
import type { CommonServices } from '../middleware/services.ts';
import type { BucketBlocks } from '../shared/bucket-allocator.ts';
import { LeasedBuckets } from '../shared/leased-buckets.ts';
import { TokenBuckets } from '../shared/token-buckets.ts';

export interface WorkerServicesOptions {
  readonly clock: Clock;
  /** Seed of the process: see TokenBuckets. */
  readonly seed: number;
  /** Milliseconds that count alike in all workers, beside those of the clock. */
  readonly offsetMs: number;
  /** Answered by `keys.receive`. */
  readonly wantKeys: (id: string) => void;
  /** Answered by `leases.settled`. */
  readonly wantLease: (wanted: WantedLease) => void;
  /** Answered by `lines.written`. */
  readonly sendLines: (batch: LineBatch) => void;
}

export class WorkerServices {
  readonly keys: KeySets;
  readonly lines: LineBatches;
  readonly leases: LeaseWaits;
  readonly services: CommonServices;
  /** Memory of the rate limits of the configuration that is being prepared, or was last. */
  blocks: BucketBlocks = new Map();

  constructor({ clock, seed, offsetMs, wantKeys, wantLease, sendLines }: WorkerServicesOptions) {
    this.keys = new KeySets(clock, wantKeys);
    this.lines = new LineBatches(clock, sendLines);
    this.leases = new LeaseWaits(clock);
    const blockOf = (id: string, place: number): SharedArrayBuffer => {
      const block = this.blocks.get(id)?.[place];
      if (block === undefined) throw new Error(`the limiter ${id} has no memory`);
      return block;
    };
    this.services = {
      bucketsOf: ({ id, rateLimit = {} }) =>
        ratesOf(rateLimit).map((rate, place) => new TokenBuckets(blockOf(id, place), rate, seed)),
      leasedBucketsOf: (middleware) => {
        const limits = leasedLimits([middleware]);
        const buckets = limits.map((limit, place) => {
          const ask = (row: number, tokens: number, name: string | undefined) =>
            wantLease({ limit: limit.id, row, tokens, name });
          return new LeasedBuckets(blockOf(middleware.id, place), limit, seed, ask);
        });
        return { buckets, wait: (place, row) => this.leases.wait(limits[place]?.id ?? '', row) };
      },
      commonMs: () => clock.monotonicMs() + offsetMs,
      keysNamed: (name, withinMs) => this.keys.sourceOf(name, withinMs),
      linesTo: (path) => this.lines.sinkOf(path),
    };
  }
}
