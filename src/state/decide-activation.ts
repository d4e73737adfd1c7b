// Decisions about what is live: activations, the way back, and confirmations (fleet.md §6).
import type { ActivationRecord } from '../model/answers/activation-record.ts';
import type { Activate, Confirm, Revert, Rollback } from './command.ts';
import type { Overlay } from './overlay.ts';
import { type Decision, missingOrChanged, underWay } from './refusals.ts';
import type { Rollout } from './rollout.ts';
import { RolloutChange } from './rollout-change.ts';

interface Cause {
  readonly index: number;
  readonly reason: ActivationRecord['reason'];
  readonly by?: string;
  readonly comment?: string;
  readonly sha256?: string | null;
  readonly rollout?: string;
}

/** The only way for a snapshot to become active. */
export function makeLive(state: Overlay, { id, name }: { id: string; name: string }, cause: Cause): void {
  const { index, reason, by = null, comment = null, sha256 = digestBefore(state, id), rollout = null } = cause;
  const at = new Date(state.position.logTime).toISOString();
  state.activate({ index, at, snapshotId: id, name, sha256, by, reason, comment, rollout });
}

export function activate(state: Overlay, command: Activate, index: number): Decision {
  const { id, ifMatch, confirmWithin } = command;
  const missing = missingOrChanged(state, 'snapshots', id, ifMatch);
  if (missing !== undefined) return missing;
  const snapshot = state.snapshot(id);
  const { pending } = state;
  // A request for more time confirms nothing: the way back stays.
  const back = pending?.snapshotId === id ? pending.back : state.active?.snapshotId;
  if (snapshot === undefined) return { status: 404 };
  const rollout = state.rolloutUnderWay;
  if (rollout !== undefined && !command.force) return { status: 409, error: underWay(rollout) };
  if (confirmWithin !== undefined && back === undefined) {
    return { status: 409, error: 'nothing was active before, so there is no way back that could be taken' };
  }
  if (rollout !== undefined) abortRollout(state, rollout, command.by ?? null, index);
  makeLive(state, snapshot, { ...command, index, reason: 'activated' });
  if (confirmWithin !== undefined && back !== undefined) {
    const deadline = state.position.logTime + confirmWithin;
    state.setPending({ snapshotId: id, index, deadline, back }, index);
  }
  return { status: 200 };
}

export function rollBack(state: Overlay, command: Rollback, index: number): Decision {
  const rollout = state.rolloutUnderWay;
  if (rollout !== undefined) return { status: 409, error: underWay(rollout) };
  const before = beforeNow(state);
  if (before === undefined) return { status: 409, error: 'nothing else was active before' };
  const { snapshotId: id, name } = before;
  const snapshot = state.snapshot(id);
  if (snapshot === undefined) {
    return { status: 409, error: `snapshot ${JSON.stringify(name)}, which was active before, is deleted` };
  }
  makeLive(state, snapshot, { ...command, index, reason: 'rollback' });
  return { status: 200, id };
}

/** Log time may be that far ahead of the time that nodes measured (raft.md A23). */
const logTimeAheadMs = 30_000;

/**
 * One that comes after the deadline is too late, whether or not the way back was taken yet. The node that takes the request judges by the
 * time that it measured; log time alone, which may have jumped, refuses what is certainly too late.
 */
export function confirm(state: Overlay, { id }: Confirm, index: number): Decision {
  const missing = missingOrChanged(state, 'snapshots', id, undefined);
  if (missing !== undefined) return missing;
  const { pending, position } = state;
  if (pending?.snapshotId !== id) return { status: 409, error: `snapshot "${id}" waits for no confirmation` };
  if (position.logTime > pending.deadline + logTimeAheadMs) return { status: 409, error: comesTooLate(id) };
  state.setPending(undefined, index);
  return { status: 200 };
}

export const comesTooLate = (id: string): string => `the confirmation of snapshot "${id}" comes too late`;

export function revert(state: Overlay, { id, activation }: Revert, index: number): Decision {
  const { pending } = state;
  // The leader has measured the time: log time may lag behind where clocks were set.
  if (pending?.index !== activation) return { status: 409, error: `snapshot "${id}" waits for no confirmation` };
  const snapshot = state.snapshot(pending.back);
  if (snapshot === undefined) return { status: 409, error: `snapshot "${pending.back}" is deleted` };
  makeLive(state, snapshot, { index, reason: 'not confirmed' });
  return { status: 200, id: snapshot.id };
}

/** Why a snapshot cannot be deleted; undefined when it can. */
export function neededFor(state: Overlay, id: string): string | undefined {
  if (state.active?.snapshotId === id) return `snapshot "${id}" is active`;
  const rollout = state.rolloutUnderWay;
  if (rollout?.snapshotId === id) return `snapshot "${id}" is the candidate of a rollout: ${underWay(rollout)}`;
  if (state.pending?.back !== id) return undefined;
  return `snapshot "${id}" becomes active again unless "${state.pending.snapshotId}" is confirmed`;
}

function abortRollout(state: Overlay, rollout: Rollout, by: string | null, index: number): void {
  const change = new RolloutChange(state, rollout, index);
  change.note('aborted', by, null);
  change.become('aborted');
}

/** The last activation of another snapshot than the one that is active. */
const beforeNow = (state: Overlay): ActivationRecord | undefined =>
  state.live.activations.findLast(({ snapshotId }) => snapshotId !== state.active?.snapshotId);

/** Returns an earlier digest; a snapshot never changes, so it stays true. */
const digestBefore = (state: Overlay, id: string): string | null =>
  state.live.activations.findLast(({ snapshotId }) => snapshotId === id)?.sha256 ?? null;
