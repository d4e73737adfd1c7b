// How much of a body is kept in memory.

/** Settings of the process, not of the configuration (contract.md §1.4). */
export interface BodyLimits {
  /** Bytes of a body that expressions may see; 0 = none. */
  readonly celBodyBytesMax: number;
  /** Bytes of a body that are kept for another try. */
  readonly retryBytesMax: number;
}

export const bodyLimits: BodyLimits = { celBodyBytesMax: 65_536, retryBytesMax: 65_536 };
