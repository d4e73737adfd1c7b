// Difference between the responses of a primary and of its mirror, as a process tells it (contract.md §7.13).

/** First difference, in the order in which the responses are compared. */
export type MismatchKind = 'status' | 'headers' | 'body';

/** One of the two responses. */
export interface MismatchSide {
  /** 0: there was no response. */
  readonly status: number;
  /** Text at the first difference, at most 200 characters; null where it has nothing there. */
  readonly value: string | null;
}

export interface MirrorMismatch {
  /** Time at which the comparison was over, RFC 3339 UTC. */
  readonly time: string;
  readonly method: string;
  readonly host: string;
  /** Canonical, without the query. */
  readonly path: string;
  /** Name of the route. */
  readonly route: string;
  readonly routeId: string;
  /** Id of the destination of the mirror. */
  readonly destination: string;
  readonly result: MismatchKind;
  /** JSON pointer of the first difference of two JSON bodies; the root is the empty text. Null for all else. */
  readonly pointer: string | null;
  /** Lower-case name of the field that differs; null for all else. */
  readonly header: string | null;
  readonly primary: MismatchSide;
  readonly mirror: MismatchSide;
}

/** Mismatches that a process remembers. */
export interface MismatchSource {
  /** Returns at most `limit`, newest first. */
  list(limit: number): readonly MirrorMismatch[];
}
