// Limits of a process on what clients make it hold.

/** Settings of the process, not of the configuration (contract.md §1.4). */
export interface BodyLimits {
  /** Bytes of a body that expressions may see; 0 = none. */
  readonly celBodyBytesMax: number;
  /** Bytes of a body that are kept for another try. */
  readonly retryBytesMax: number;
  /** Connections of clients. Default: what the descriptors allow. */
  readonly connectionsMax?: number | undefined;
  /** Bytes of request heads that are not whole. Default: 64 MiB. */
  readonly headBytesMax?: number | undefined;
}

export const headBytesMaxDefault = 64 * 1024 * 1024;

export const bodyLimits: BodyLimits = { celBodyBytesMax: 65_536, retryBytesMax: 65_536 };
