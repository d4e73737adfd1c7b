// Check that the state machine's database fits the log it was built from (raft.md A18).
import type { BootState, LogPosition } from '../core/types.ts';

/** Returns the problem, or undefined. `applied` is the last entry that the state holds; index 0 for an empty state. */
export function appliedProblem(boot: BootState, applied: LogPosition): string | undefined {
  const lastIndex = boot.base.index + boot.entries.length;
  if (applied.index > lastIndex) return `the state holds entry ${applied.index}, the log ends at ${lastIndex}`;
  if (applied.index < boot.base.index) {
    return `the state ends at entry ${applied.index}, the log begins after ${boot.base.index}`;
  }
  if (applied.index === 0) return undefined;
  const entry = boot.entries[applied.index - boot.base.index - 1];
  const term = applied.index === boot.base.index ? boot.base.term : entry?.term;
  if (term === applied.term) return undefined;
  return `the state holds entry ${applied.index} of term ${applied.term}, the log has it of term ${term}`;
}
