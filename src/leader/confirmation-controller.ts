// An activation that had to be confirmed and was not: when its deadline has passed, what was live before it becomes live
// again (fleet.md §6). The deadline is part of the state, so it outlives leaders and restarts.
import type { LeaderController } from './leader-controllers.ts';

export const confirmationController: LeaderController = {
  name: 'a confirmation that did not come',
  due({ pending }, nowMs) {
    if (pending === undefined || nowMs < pending.deadline) return undefined;
    return { op: 'revert', id: pending.snapshotId, activation: pending.index };
  },
};
