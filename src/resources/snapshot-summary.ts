// A snapshot without its content, as lists and activations show it.
import type { StateView, StoredSnapshot } from '../state/view.ts';

/** JSON text. `confirmBy` while its activation waits for a confirmation. */
export function snapshotSummary(
  { id, name, owner, labels, createdAt }: StoredSnapshot,
  { active, pending }: Partial<Pick<StateView, 'active' | 'pending'>>,
): string {
  const isWaiting = pending?.snapshotId === id && active?.index === pending.index;
  const confirmBy = isWaiting ? new Date(pending.deadline).toISOString() : undefined;
  return JSON.stringify({ id, name, owner, labels, createdAt, active: id === active?.snapshotId, confirmBy });
}
