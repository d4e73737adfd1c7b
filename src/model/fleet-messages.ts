// What a proxy tells its control plane about itself (fleet.md §4): what it has installed, and what its traffic was like.
// Both sides use these shapes; whoever reads them from the network checks them first.
import type { Problem } from './problem.ts';

export interface ListenerReport {
  readonly id: string;
  readonly state: 'open' | 'waiting' | 'failed';
  /** Why it is not open. */
  readonly reason?: string;
}

export interface Acknowledgement {
  readonly index: number;
  readonly sha256: string;
  readonly of: 'stable' | 'candidate';
  readonly state: 'installed' | 'refused';
  readonly tookMs: number;
  readonly problems: readonly Problem[];
  readonly listeners: readonly ListenerReport[];
}

/** What was served since the last report. */
export interface TrafficWindow {
  readonly of: 'stable' | 'candidate';
  readonly rollout: string | null;
  readonly requests: number;
  readonly serverErrors: number;
  readonly clientErrors: number;
  readonly proxyErrors: number;
  /** Requests by duration, in the buckets of `latencyBounds`; the last count has no bound. */
  readonly latency: readonly number[];
}

export const latencyBuckets = 80;

/** Upper bounds in milliseconds of all buckets but the last: from 0.1 ms, each 2^(1/4) wider than the one before. */
export const latencyBounds: readonly number[] = Array.from(
  { length: latencyBuckets - 1 },
  (_, i) => 0.1 * 2 ** (i / 4),
);

/** Index of the bucket for a duration in milliseconds. */
export const latencyBucket = (ms: number): number =>
  ms <= 0.1 ? 0 : Math.min(latencyBuckets - 1, Math.ceil(4 * Math.log2(ms / 0.1) - 1e-9));
