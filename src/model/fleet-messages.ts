// Messages from a proxy to its control plane (fleet.md §4): the configuration it has installed and counts of its
// traffic. Both sides use these shapes; the side that receives them from the network validates them first.
import type { MirrorCounts, SentAcknowledgement, SentWindow, StreamAddress } from './answers/proxy-messages.ts';
import type { ShadowCounts } from './answers/rollout-answers.ts';
import type { Problem } from './problem.ts';
import type { ShadowExamples } from './shadow.ts';

/** Acknowledgement as it was read: lists that were not sent are empty. */
export type Acknowledgement = Omit<Required<SentAcknowledgement>, keyof StreamAddress>;

/** Counts of the requests that were served since the last report, as they were read. */
export interface TrafficWindow extends Omit<SentWindow, 'rollout' | 'latency' | 'mirror'> {
  readonly rollout: string | null;
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
