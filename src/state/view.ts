// How everyone reads what was agreed on. A view shows only what is on disk (architecture.md §7.3).
import type { ConfigKind, EditableKind, Kind } from '../model/kinds.ts';
import type { Spec } from './command.ts';

/** One resource as it is kept. Immutable; a change makes a new one. */
export interface Stored {
  readonly id: string;
  readonly name: string;
  /** Log index of its last change; the `ETag`. */
  readonly revision: number;
  readonly spec: Spec;
  /** `JSON.stringify(spec)`, kept because lists of thousands are answered from it. */
  readonly json: string;
}

/** A captured configuration: text with its references, and the values they had, apart (architecture.md §6.12). */
export interface StoredSnapshot {
  readonly id: string;
  readonly name: string;
  readonly revision: number;
  /** RFC 3339 UTC. */
  readonly createdAt: string;
  /** Ascending by id. Shares the entities with the state that was captured. */
  readonly entities: Readonly<Record<ConfigKind, readonly Stored[]>>;
  /** Value of every reference in it, by the reference's whole text. */
  readonly values: Readonly<Record<string, string>>;
}

/** Which snapshot is live since which log index. */
export interface Active {
  readonly snapshotId: string;
  readonly index: number;
}

export interface StateView {
  /** Index of the last applied command. */
  readonly applied: number;
  /** Index of the last command that changed a configuration kind or a secret. */
  readonly changedAt: number;
  /** State hash over plaintext, 16 hex digits; equal on all nodes at equal `applied`. */
  readonly hash: string;
  readonly active: Active | undefined;
  get(kind: EditableKind, id: string): Stored | undefined;
  /** Ascending by id, byte order. */
  list(kind: EditableKind): readonly Stored[];
  snapshot(id: string): StoredSnapshot | undefined;
  /** Ascending by createdAt, then id. */
  snapshots(): readonly StoredSnapshot[];
  /** Revision of any entity, or undefined when it does not exist. */
  revision(kind: Kind, id: string): number | undefined;
}
