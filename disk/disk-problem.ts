// Why a file cannot be written for the time being. Nothing that was answered is in doubt: the write is late, or it was
// rejected and is made again until it succeeds.

export interface DiskProblem {
  /** `late`: under way for long. `rejected`: the system refused it last. */
  readonly kind: 'late' | 'rejected';
  /** Names the place. For people. */
  readonly reason: string;
}

/** A write under way for so long is late, milliseconds. */
export const lateMs = 3_000;

export const isLate = (place: string): DiskProblem => ({
  kind: 'late',
  reason: `a write to ${place} has been under way for more than ${lateMs / 1_000} s`,
});

export const isRejected = (place: string, error: unknown): DiskProblem => ({
  kind: 'rejected',
  reason: `a write to ${place} was rejected and is tried again: ${error instanceof Error ? error.message : error}`,
});

/** Pauses before a rejected write is made again: the first, doubled up to the longest, milliseconds. */
export const rejectedPauseMs = { first: 50, longest: 1_000 };
