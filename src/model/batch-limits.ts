// Limits of the two paths for batches (batch.md).

/** Most operations, and bytes of the body. */
export interface BatchLimits {
  readonly operations: number;
  readonly bytes: number;
}

export const batchLimits: BatchLimits = { operations: 20_000, bytes: 32 * 1024 * 1024 };
export const largeBatchLimits: BatchLimits = { operations: 200_000, bytes: 128 * 1024 * 1024 };

/** Milliseconds for each operation of a large batch that a client waits for the answer, besides its usual time. */
export const largeBatchMsPerOperation = 0.5;
