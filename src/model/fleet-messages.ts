// Messages from a proxy to its control plane (fleet.md §4): the configuration it has installed and counts of its
// traffic. Both sides use these shapes; the side that receives them from the network validates them first.
import { idLengthMax } from './id.ts';
import type { Problem } from './problem.ts';
import type { ShadowCounts, ShadowExamples } from './shadow.ts';

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

/** Responses of mirrors that were compared with those of the requests themselves. */
export interface MirrorCounts {
  readonly compared: number;
  readonly mismatched: number;
}

/** Counts of the requests that were served since the last report. */
export interface TrafficWindow {
  readonly of: 'stable' | 'candidate';
  readonly rollout: string | null;
  readonly requests: number;
  readonly serverErrors: number;
  readonly clientErrors: number;
  readonly proxyErrors: number;
  /** Requests by duration, in `latencyBuckets` buckets, or none. */
  readonly latency: readonly number[];
  /** Absent where none was compared. */
  readonly mirror?: MirrorCounts;
  /** Comparisons of stable with a candidate, of its window. Absent where none was made. */
  readonly shadow?: ShadowCounts;
  /** Examples of their differences. Absent: none. */
  readonly examples?: Partial<ShadowExamples>;
}

/**
 * Report of one node on a rollout: counts that its proxies have sent since it learned of the rollout, and their
 * progress.
 */
export interface RolloutReport {
  /** Null: it knows of none. */
  readonly rollout: string | null;
  /** Identifies the process; a new one starts its counts at zero. */
  readonly life: string;
  readonly candidate: Omit<TrafficWindow, 'of' | 'rollout'>;
  readonly stable: Omit<TrafficWindow, 'of' | 'rollout'>;
  /** Connected proxies. */
  readonly proxies: readonly {
    readonly id: string;
    readonly state: 'installed' | 'refused' | 'pending';
    /** First problems of one that refuses. */
    readonly problems?: readonly Problem[];
  }[];
}

/** Comparisons of the last rollout with shadow steps that one node has heard of, also after its end. */
export interface ShadowReport {
  /** Null: there was none. */
  readonly rollout: string | null;
  readonly counts: ShadowCounts;
  readonly examples: ShadowExamples;
}

/** Number of latency buckets, each 2^(1/4) wider than the one before, from 0.1 ms; the last is open. */
export const latencyBuckets = 80;

/** Limits of a message: entries of a list, characters of a text. */
export const messageLimits = {
  problems: 100,
  listeners: 1_000,
  windows: 16,
  token: 512,
  boot: 64,
  sha256: 64,
  id: idLengthMax,
  /** Prose: what is longer is cut. */
  prose: 1_000,
} as const;
