// Decisions about rollouts: the effect of each command (fleet.md §7). One at a time; the controller of the leader
// names the epoch that it saw, so that nothing is decided twice and nothing about a step that is over.
import type { DriveRollout, MoveRollout, StartRollout } from './command.ts';
import { makeLive } from './decide-activation.ts';
import type { Overlay } from './overlay.ts';
import { type Decision, underWay } from './refusals.ts';
import { isServing, isShadow, isUnderWay, type Rollout } from './rollout.ts';
import { RolloutChange } from './rollout-change.ts';

export function decideRollout(
  state: Overlay,
  command: StartRollout | MoveRollout | DriveRollout,
  index: number,
): Decision {
  if (command.action === 'start') return start(state, command, index);
  const rollout = state.rollout(command.id);
  if (rollout === undefined) return { status: 404, error: `rollout ${JSON.stringify(command.id)} not found` };
  const change = new RolloutChange(state, rollout, index);
  switch (command.action) {
    case 'advance':
    case 'fail':
    case 'stall':
      return drive(state, change, command);
    default:
      return move(state, change, command);
  }
}

function start(state: Overlay, command: StartRollout, index: number): Decision {
  const { id, snapshotId, plan, by = null, comment = null, sha256 = null } = command;
  const snapshot = state.snapshot(snapshotId);
  if (snapshot === undefined) return { status: 404, error: `snapshot ${JSON.stringify(snapshotId)} not found` };
  const refusal = startRefusal(state, id, snapshotId);
  if (refusal !== undefined) return { status: 409, error: refusal };
  const { name } = snapshot;
  const begun = { id, snapshotId, name, sha256, plan, comment, by, state: 'running', step: 0 } as const;
  const change = new RolloutChange(state, { ...begun, startedAt: index, epoch: index, events: [] }, index);
  change.note('started', by, plan.steps[0] === undefined ? null : { ...plan.steps[0] });
  enter(state, change, 0, by);
  return { status: 200 };
}

function startRefusal(state: Overlay, id: string, snapshotId: string): string | undefined {
  const other = state.rolloutUnderWay;
  if (other !== undefined) return underWay(other);
  if (state.rollout(id) !== undefined) return `rollout "${id}" exists already`;
  if (state.pending !== undefined) return `snapshot "${state.pending.snapshotId}" waits for its confirmation`;
  if (state.active === undefined) return 'nothing is active: there is nothing that the candidate could be held against';
  return state.active.snapshotId === snapshotId ? `snapshot "${snapshotId}" is active already` : undefined;
}

function move(state: Overlay, change: RolloutChange, command: MoveRollout): Decision {
  const { rollout } = change;
  const { action, by = null } = command;
  if (!isUnderWay(rollout)) return over(rollout);
  switch (action) {
    case 'pause':
      if (rollout.state === 'paused') return { status: 409, error: `rollout "${rollout.id}" is paused already` };
      change.note('paused', by, null);
      change.become('paused');
      break;
    case 'resume':
      if (rollout.state === 'running') return { status: 409, error: `rollout "${rollout.id}" is running` };
      change.note('resumed', by, null);
      change.become('running');
      break;
    case 'abort':
      abort(change, by);
      break;
    case 'promote':
      change.note('promoted', by, null);
      enter(state, change, command.finish === true ? rollout.plan.steps.length : rollout.step + 1, by);
      break;
  }
  return { status: 200 };
}

/** The operator, or an activation that may not wait, ends it. */
function abort(change: RolloutChange, by: string | null): void {
  change.note('aborted', by, null);
  change.become('aborted');
}

function drive(state: Overlay, change: RolloutChange, command: DriveRollout): Decision {
  const { rollout } = change;
  if (rollout.state !== 'running') return over(rollout);
  if (rollout.epoch !== command.epoch) return { status: 409, error: 'the step that this is about is over' };
  if (command.shadow !== undefined && isShadow(rollout.plan.steps[rollout.step])) change.measured(command.shadow);
  switch (command.action) {
    case 'advance':
      enter(state, change, rollout.step + 1, null);
      break;
    case 'stall':
      change.note('paused', null, { why: 'the step could not end in time', ...command.values });
      change.become('paused');
      break;
    case 'fail': {
      change.note(command.because ?? 'guard failed', null, command.values ?? null, command.guard);
      const isPause = rollout.plan.onFail === 'pause';
      change.note(isPause ? 'paused' : 'rolledBack', null, null);
      change.become(isPause ? 'paused' : 'rolledBack');
      break;
    }
  }
  return { status: 200 };
}

const over = ({ id, state }: Rollout): Decision => ({ status: 409, error: `rollout "${id}" is ${state}` });

/** All of it at once is what completing means, unless the plan holds it there for a while. */
function enter(state: Overlay, change: RolloutChange, step: number, by: string | null): void {
  const { plan, step: before } = change.rollout;
  const next = plan.steps[step];
  if (next === undefined || (isWhole(next) && next.holdMs === 0)) {
    complete(state, change, by);
    return;
  }
  if (step > before) change.note('step', by, { step, ...next });
  change.become('running', step);
}

/** An activation like any other, unless no step serves clients. */
function complete(state: Overlay, change: RolloutChange, by: string | null): void {
  const { id, snapshotId, name, sha256, comment, plan, by: starter } = change.rollout;
  change.note('completed', by, null);
  change.become('completed', plan.steps.length - 1);
  if (!isServing(plan)) return;
  makeLive(
    state,
    { id: snapshotId, name },
    {
      index: change.index,
      reason: 'rollout',
      rollout: id,
      ...(sha256 !== null && { sha256 }),
      ...(comment !== null && { comment }),
      ...(starter !== null && { by: starter }),
    },
  );
}

const isWhole = (step: Rollout['plan']['steps'][number]): boolean => 'share' in step && step.share === 100;
