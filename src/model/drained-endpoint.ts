// Endpoints that get no new requests by the word of an operator (contract.md §3.8): runtime state of the whole fleet, beside
// the configuration and no part of it.

export interface DrainedEndpoint {
  /** Id of the destination. */
  readonly destinationId: string;
  /** `host:port` */
  readonly endpoint: string;
}

/** Drained endpoints of this moment, and the log index of the last change. */
export interface Drains {
  readonly index: number;
  readonly endpoints: readonly DrainedEndpoint[];
}

export const noDrains: Drains = { index: 0, endpoints: [] };

/** Endpoints that may be drained at a time. */
export const drainsMax = 10_000;

export const drainKey = (destinationId: string, endpoint: string): string => `${destinationId} ${endpoint}`;
