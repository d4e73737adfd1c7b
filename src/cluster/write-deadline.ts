// Time that a write has to be applied (raft.md A16): one change of leaders is hidden by it. Checking and applying a
// large batch takes as many seconds by itself.
import type { Draft } from '../state/command.ts';

export const deadlineMs = 10_000;

/** Operations that go within the usual time. */
const usualOperations = 20_000;
const msPerOperation = 0.25;

/** Milliseconds from the proposal on. */
export function writeDeadlineMs(
  write: Pick<Draft, 'op'> & { readonly operations?: { readonly count: number } },
): number {
  const more = Math.max(0, (write.operations?.count ?? 0) - usualOperations);
  return deadlineMs + Math.ceil(more * msPerOperation);
}
