// The leader's rules: taking office, adding entries, reading the answers of its peers, and noticing in time
// that it has lost them.

import { advanceCommit, reconcileProgress } from './commit.ts';
import { applyChanges, isJoint, isVoter, type MemberChange, type Transition } from './config-change.ts';
import type { AppendResp, HeartbeatResp } from './message.ts';
import type { Progress } from './progress.ts';
import { hasQuorum } from './quorum.ts';
import { sizeOf } from './raft-log.ts';
import { confirmRead, startReadRound } from './reading.ts';
import { broadcastHeartbeat, sendAppends } from './replication.ts';
import { becomeFollower, changeRole } from './role.ts';
import { type CoreState, hasCommittedInTerm, send } from './state.ts';
import type { Config, Entry, Index, MemberId } from './types.ts';

export interface Proposal {
  readonly payload: Uint8Array;
  /** The leader's wall clock, Unix milliseconds. */
  readonly time: number;
}

export type ProposeResult =
  | { readonly kind: 'appended'; readonly index: Index; readonly term: number }
  | { readonly kind: 'refused'; readonly why: ProposeRefusal; readonly detail?: string };

type ProposeRefusal = 'not leader' | 'overload' | 'transferring' | 'too large' | 'pending change' | 'invalid change';

/** Nothing of earlier terms counts as committed until the no-op of this one is. */
export function becomeLeader(state: CoreState): void {
  const voters = [...state.votes].filter(([, granted]) => granted).map(([id]) => id);
  changeRole(state, 'leader', state.settings.id, false);
  state.outbox.event({ type: 'elected', term: state.term, votes: voters });
  state.fetching = undefined;
  state.progress = new Map();
  reconcileProgress(state);
  for (const progress of state.progress.values()) progress.startTerm(state.log.lastIndex + 1);
  state.uncommittedBytes = 0;
  for (let at = state.log.committed + 1; at <= state.log.lastIndex; at += 1)
    state.uncommittedBytes += sizeOf(state.log.entry(at)!);
  appendEntry(state, { ...nextHead(state, 0), kind: 'noop' });
}

/**
 * Returns the head of the next entry. Log time never goes back, even when the clock of a new leader is behind that of
 * the last.
 */
function nextHead({ log, term }: CoreState, time: number): { index: Index; term: number; time: number } {
  return { index: log.lastIndex + 1, term, time: Math.max(time, log.lastTime) };
}

function appendEntry(state: CoreState, entry: Entry): void {
  state.log.append(entry);
  state.uncommittedBytes += sizeOf(entry);
}

export function propose(state: CoreState, { payload, time }: Proposal): ProposeResult {
  const why = refusal(state, payload.length);
  if (why !== undefined) return { kind: 'refused', why };
  const entry: Entry = { ...nextHead(state, time), kind: 'command', payload };
  appendEntry(state, entry);
  return { kind: 'appended', index: entry.index, term: entry.term };
}

function refusal(state: CoreState, bytes: number): ProposeRefusal | undefined {
  const { log, settings } = state;
  if (state.role !== 'leader' || state.resigning) return 'not leader';
  if (state.transferee !== undefined) return 'transferring';
  if (bytes > settings.commandBytes) return 'too large';
  const uncommitted = log.lastIndex - log.committed;
  // One command always fits, however small the limit.
  if (uncommitted > 0 && state.uncommittedBytes + bytes > settings.uncommittedBytes) return 'overload';
  if (uncommitted >= settings.uncommittedEntries) return 'overload';
  return log.committed - state.applied > settings.applyLag ? 'overload' : undefined;
}

/**
 * Logs the resulting configuration. At most one change is under way, and only a leader that has committed in its
 * own term may begin one: two leaders starting from uncommitted configurations could split the cluster.
 */
export function proposeConfig(
  state: CoreState,
  changes: readonly MemberChange[],
  transition: Transition,
  time: number,
): ProposeResult {
  const why = refusal(state, 0);
  if (why !== undefined) return { kind: 'refused', why };
  const isLeaving = changes.length === 0;
  if (state.log.pendingConfig !== undefined || !hasCommittedInTerm(state))
    return { kind: 'refused', why: 'pending change' };
  if (isJoint(state.config) && !isLeaving) return { kind: 'refused', why: 'pending change' };
  const result = applyChanges(state.config, changes, transition);
  if (result.kind === 'invalid') return { kind: 'refused', why: 'invalid change', detail: result.why };
  return appendConfig(state, result.config, time);
}

function appendConfig(state: CoreState, config: Config, time: number): ProposeResult {
  const entry: Entry = { ...nextHead(state, time), kind: 'config', config };
  appendEntry(state, entry);
  return { kind: 'appended', index: entry.index, term: entry.term };
}

/**
 * Draws the consequences of all messages and events of a turn: called once per turn, before the output is collected.
 */
export function leaderTurn(state: CoreState): void {
  advanceCommit(state);
  leaveJointWhenDue(state);
  // What these two append is on no disk yet: it commits nothing in this turn.
  vouchWhenDue(state);
  if (state.resigning) {
    sendAppends(state);
    if (state.settings.onRemoval === 'handOver') resign(state);
    else becomeFollower(state, state.term, undefined);
    return;
  }
  startReadRound(state);
  sendAppends(state);
  finishTransfer(state);
}

/** Leaves a joint configuration, which is transitional: the leader of the time closes it. */
function leaveJointWhenDue(state: CoreState): void {
  if (!isJoint(state.config) || !state.config.autoLeave || state.log.pendingConfig !== undefined) return;
  if (!hasCommittedInTerm(state)) return;
  const result = applyChanges(state.config, [], 'auto');
  if (result.kind === 'changed') appendConfig(state, result.config, 0);
}

/** Appends an empty entry when a suspect member waits for an entry made after its return and no client writes one. */
function vouchWhenDue(state: CoreState): void {
  const { log, progress, resigning, transferee } = state;
  if (resigning || transferee !== undefined || !hasCommittedInTerm(state)) return;
  if (isAwaited(progress, log.lastIndex)) appendEntry(state, { ...nextHead(state, 0), kind: 'noop' });
}

function isAwaited(progress: ReadonlyMap<MemberId, Progress>, lastIndex: Index): boolean {
  for (const peer of progress.values()) if (peer.wantsNewEntry(lastIndex)) return true;
  return false;
}

export function onAppendResp(state: CoreState, message: AppendResp): void {
  const progress = state.progress.get(message.from);
  if (progress === undefined) return;
  const { boot, from, lastIndex, match, reject, sendSeq, suspect } = message;
  if (match !== undefined && match > state.log.lastIndex) {
    const why = `it acknowledges entry ${match}, this log ends at ${state.log.lastIndex}`;
    state.outbox.event({ type: 'refused', from, message: 'appendResp', why });
    return;
  }
  if (!progress.noteStart(boot, suspect, state.log.lastIndex)) return;
  progress.active = true;
  if (progress.provesLoss(boot, sendSeq, lastIndex)) {
    noteLoss(state, message.from, progress, lastIndex);
    return;
  }
  const before = progress.state;
  if (match !== undefined) progress.acknowledged(match, sendSeq, state.log.firstIndex);
  else if (reject !== undefined) onReject(state, progress, sendSeq, reject);
  else progress.noteSuspect();
  if (progress.state !== before) state.outbox.event({ type: 'progress', peer: message.from, state: progress.state });
}

/** The peer has less than it acknowledged: it stops counting. */
function noteLoss(state: CoreState, peer: MemberId, progress: Progress, last: Index): void {
  if (!progress.lost) state.outbox.event({ type: 'lostData', peer, acked: progress.match, last });
  progress.lost = true;
}

function onReject(
  state: CoreState,
  progress: Progress,
  sendSeq: number,
  { prevIndex, hintIndex, hintTerm }: NonNullable<AppendResp['reject']>,
): void {
  const hint = hintTerm > 0 ? state.log.agreementHint(hintIndex, hintTerm).index : hintIndex;
  progress.refused(prevIndex, sendSeq, hint);
}

export function onHeartbeatResp(state: CoreState, { boot, from, round, suspect }: HeartbeatResp): void {
  const progress = state.progress.get(from);
  if (progress === undefined || !progress.noteStart(boot, suspect, state.log.lastIndex)) return;
  progress.heard(state.log.lastIndex);
  if (progress.counts && round > 0) confirmRead(state, from, round);
}

export function leaderTick(state: CoreState): void {
  state.heartbeatElapsed += 1;
  state.electionElapsed += 1;
  if (state.electionElapsed >= state.settings.electionTicks) {
    state.electionElapsed = 0;
    if (state.settings.checkQuorum && !hearsQuorum(state)) {
      becomeFollower(state, state.term, undefined);
      return;
    }
    state.transferee = undefined;
  }
  if (state.heartbeatElapsed >= state.settings.heartbeatTicks) {
    state.heartbeatElapsed = 0;
    broadcastHeartbeat(state);
  }
}

function hearsQuorum(state: CoreState): boolean {
  const isFollowed = ({ active, counts }: Progress) => active && counts;
  const hears = hasQuorum(state.config, (id) => {
    const progress = state.progress.get(id);
    return id === state.settings.id || (progress !== undefined && isFollowed(progress));
  });
  for (const progress of state.progress.values()) progress.startCheck();
  return hears;
}

/** Returns whether the member answered within the last two election timeouts. */
export function isHeard(state: Readonly<CoreState>, id: MemberId): boolean {
  return id === state.settings.id || state.progress.get(id)?.wasActive === true;
}

/** Returns whether messages of the member arrive and its log counts. */
export function isSound(state: Readonly<CoreState>, id: MemberId): boolean {
  return isHeard(state, id) && state.progress.get(id)?.counts !== false;
}

/** Takes no proposals from here on; the target campaigns as soon as it holds everything. */
export function transferTo(state: CoreState, target: MemberId): boolean {
  if (state.role !== 'leader' || target === state.settings.id) return false;
  if (!isVoter(state.config, target) || !isSound(state, target)) return false;
  if (state.transferee === target) return true;
  state.transferee = target;
  state.electionElapsed = 0;
  state.transferSent = false;
  return true;
}

/** Returns the voter that can take over soonest: active, and with the longest matching log. */
export function bestSuccessor(state: CoreState): MemberId | undefined {
  let best: MemberId | undefined;
  for (const [id, { match }] of state.progress) {
    if (!isVoter(state.config, id) || !isSound(state, id)) continue;
    if (best === undefined || match > state.progress.get(best)!.match) best = id;
  }
  return best;
}

/** Stops leading at once: this node can't do the office any more. */
export function resign(state: CoreState): void {
  if (state.role !== 'leader') return;
  const successor = bestSuccessor(state);
  if (successor !== undefined) send(state, successor, { type: 'timeoutNow' });
  becomeFollower(state, state.term, undefined);
}

function finishTransfer(state: CoreState): void {
  const target = state.transferee;
  if (target === undefined || state.transferSent) return;
  if (state.progress.get(target)?.match !== state.log.lastIndex) return;
  state.transferSent = true;
  send(state, target, { type: 'timeoutNow' });
}
