// History of activations, which snapshot was live when, and why: one record for each activation, the oldest forgotten
// first. Kept also of snapshots that are deleted since (fleet.md §6).

export type ActivationReason = 'activated' | 'rollout' | 'not confirmed' | 'rollback';

export interface ActivationRecord {
  /** Log index of the activation. */
  readonly index: number;
  /** RFC 3339 UTC, of log time: never earlier than the one before. */
  readonly at: string;
  readonly snapshotId: string;
  readonly name: string;
  /** SHA-256 of the canonical JSON of the configuration for proxies; null when it was not computed. */
  readonly sha256: string | null;
  /** Name of the API key; null without keys, and for what the cluster did by itself. */
  readonly by: string | null;
  readonly reason: ActivationReason;
  readonly comment: string | null;
  /** Id of the rollout that ended in it. */
  readonly rollout: string | null;
}

/** Activation that lasts only until its deadline, unless it is confirmed. */
export interface PendingConfirmation {
  readonly snapshotId: string;
  /** Log index of the activation that waits. */
  readonly index: number;
  /** Unix ms. */
  readonly deadline: number;
  /** Id of the snapshot that becomes active again. */
  readonly back: string;
}

/** Most records that are kept. */
export const historyMax = 10_000;
