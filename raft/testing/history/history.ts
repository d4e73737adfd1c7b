// A history: what clients asked for, when, and what they were told. Registers hold the number of the operation
// that wrote them last.

export interface Operation {
  /** Unique, counted from 1. */
  readonly op: number;
  readonly register: number;
  readonly kind: 'write' | 'read';
  readonly invokedAt: number;
  /** Time of the answer; undefined while no client got one. */
  readonly returnedAt: number | undefined;
  /** `unknown`: it may have taken effect, or may yet. */
  readonly outcome: 'ok' | 'notApplied' | 'unknown';
  /** Position in the log: of the write, or that a read was served at. Only for `ok`. */
  readonly index: number | undefined;
  /** Result of a read: the operation that wrote the value, 0 for a register never written. */
  readonly value: number | undefined;
}
