// Staged configuration at one moment. Lists of a view are immutable, so holding them holds the moment, while writes go
// on, references are resolved and the result is compiled.
import { type ConfigKind, perKind } from '../model/kinds.ts';
import type { StateView, Stored, StoredSnapshot } from '../state/view.ts';

export interface Staged {
  /** Index of the last change in it; a capture carries it as `checkedAt`. */
  readonly changedAt: number;
  readonly entities: Readonly<Record<ConfigKind, readonly Stored[]>>;
  readonly secrets: readonly Stored[];
  /** Values of references that were captured before and stay, by the whole text. Default: none. */
  readonly inForce?: Captured['values'];
}

/** Entities and a value for every reference in them: what a snapshot holds, and what a capture is checked with. */
export type Captured = Pick<StoredSnapshot, 'entities' | 'values'>;

export const stagedOf = (view: StateView): Staged => ({
  changedAt: view.changedAt,
  entities: perKind((kind) => view.list(kind)),
  secrets: view.list('secrets'),
});
