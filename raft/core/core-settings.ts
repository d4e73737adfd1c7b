// Numbers the core works with. Ticks are the driver's: 100 ms each in the product.
import type { MemberId } from './types.ts';

export interface CoreSettings {
  /** 32 hex digits. */
  readonly clusterId: string;
  readonly id: MemberId;
  /** Count of openings of this node's directory. */
  readonly boot: number;
  /**
   * True when senders have proven that they hold the cluster's secret, or a certificate. Otherwise a node never accepts
   * messages of one that its configuration does not name, even when no other sends any.
   */
  readonly peersAreProven: boolean;
  /** Minimum election timeout; a node draws its own from [electionTicks, 2 × electionTicks). */
  readonly electionTicks: number;
  readonly heartbeatTicks: number;
  readonly preVote: boolean;
  /** The leader steps down without a quorum's answers, and voters hold on to a leader they hear. */
  readonly checkQuorum: boolean;
  /**
   * Behaviour of a leader when a configuration in which it has no vote is committed: it makes its best successor
   * campaign, just stops leading, or leads on.
   */
  readonly onRemoval: 'handOver' | 'stepDown' | 'stay';
  readonly appendBytes: number;
  readonly appendEntries: number;
  /** Appends in flight to one peer. */
  readonly windowMessages: number;
  readonly windowBytes: number;
  /** Proposals beyond these are refused as overload. */
  readonly uncommittedEntries: number;
  readonly uncommittedBytes: number;
  /** Committed entries that the state machine has not applied; more refuse proposals. */
  readonly applyLag: number;
  readonly commandBytes: number;
  /** Reads that wait for a round; more are refused. */
  readonly pendingReads: number;
}

export const defaultSettings: Omit<CoreSettings, 'clusterId' | 'id' | 'boot'> = {
  peersAreProven: true,
  electionTicks: 10,
  heartbeatTicks: 1,
  preVote: true,
  checkQuorum: true,
  onRemoval: 'handOver',
  appendBytes: 256 * 1024,
  appendEntries: 1024,
  windowMessages: 64,
  windowBytes: 4 * 1024 * 1024,
  uncommittedEntries: 4096,
  uncommittedBytes: 16 * 1024 * 1024,
  applyLag: 10_000,
  commandBytes: 4 * 1024 * 1024,
  pendingReads: 4096,
};
