// History of activations, which snapshot was live when, and why: one record for each activation, the oldest forgotten
// first. Kept also of snapshots that are deleted since (fleet.md §6).

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
