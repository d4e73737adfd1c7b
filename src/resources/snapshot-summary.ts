// A snapshot without its content, as lists and activations show it.
import type { Active, StoredSnapshot } from '../state/view.ts';

/** JSON text. */
export const snapshotSummary = ({ id, name, createdAt }: StoredSnapshot, active: Active | undefined): string =>
  JSON.stringify({ id, name, createdAt, active: id === active?.snapshotId });
