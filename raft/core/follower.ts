// Follower: the exact rule for appends, heartbeats, the offer of a checkpoint, and the discovery that the own disk
// forgot something.
import { activate, commitTo } from './commit.ts';
import { invariant } from './invariant.ts';
import type { Append, CheckpointBegin, Heartbeat } from './message.ts';
import { becomeFollower } from './role.ts';
import { type CoreState, send } from './state.ts';
import type { CheckpointMeta, Index, MemberId } from './types.ts';

export function onAppend(state: CoreState, message: Append): void {
  if (!isCredible(state, message, message.youAcked) || !isInOrder(state, message)) return;
  onLeaderContact(state, message.from);
  const { log } = state;
  const { from, prevIndex, prevTerm, entries, commit, sendSeq, youAcked } = message;
  if (prevIndex < log.committed) {
    if (sendSeq > 0) acknowledge(state, from, log.committed, sendSeq);
    return;
  }
  if (log.term(prevIndex) !== prevTerm) {
    // This node acknowledged earlier that both logs agree there.
    if (prevIndex <= youAcked) noteLoss(state, message, youAcked, prevIndex - 1);
    else refuse(state, message);
    return;
  }
  const truncated = log.merge(entries);
  if (truncated !== undefined) state.outbox.event({ type: 'truncated', from: truncated });
  // Beyond this message nothing is known to agree with the leader.
  const agreed = prevIndex + entries.length;
  commitTo(state, Math.min(commit, agreed));
  const isVouchedFor = message.vouchedBoot === state.settings.boot;
  if (state.suspect && isVouchedFor && agreed >= commit && log.term(commit) === message.term) trust(state);
  if (sendSeq > 0) acknowledge(state, from, agreed, sendSeq);
}

/**
 * Ends the suspicion: acknowledgements and votes that this node may have forgotten can do no harm any more. Entries it
 * acknowledged in earlier terms, as far as they were committed, lie at or below `commit`; those it acknowledged to this
 * leader it has (`youAcked`), and answers of its earlier life that are still under way do not count, for the leader
 * knows of the present one. Votes and acknowledgements of later terms are void: see `Progress.vouchedBoot`. In this
 * term it cannot vote twice, for its log now ends behind that of any candidate of this term.
 */
function trust(state: CoreState): void {
  state.suspect = false;
  state.outbox.event({ type: 'trusted' });
}

function acknowledge(state: CoreState, to: MemberId, match: Index, sendSeq: number): void {
  const { log, settings } = state;
  state.outbox.send({
    clusterId: settings.clusterId,
    from: settings.id,
    to,
    term: state.term,
    type: 'appendResp',
    match,
    reject: undefined,
    lastIndex: log.lastIndex,
    sendSeq,
    boot: settings.boot,
    suspect: state.suspect,
  });
}

/** A leader of an earlier term: the term of the answer is all it has to know. */
export function answerOutdatedLeader(state: CoreState, to: MemberId): void {
  sendOwnStart(state, to);
}

/** Reports the end of the log and the start number of this node; the leader counts neither as an acknowledgement. */
function sendOwnStart(state: CoreState, to: MemberId): void {
  const answer = { lastIndex: state.log.lastIndex, sendSeq: 0, boot: state.settings.boot, suspect: state.suspect };
  send(state, to, { type: 'appendResp', match: undefined, reject: undefined, ...answer });
}

function refuse(state: CoreState, { from, prevIndex, prevTerm, sendSeq }: Append): void {
  const { log, settings } = state;
  const hint = log.agreementHint(prevIndex, prevTerm);
  const reject = { prevIndex, hintIndex: hint.index, hintTerm: hint.term };
  const answer = { lastIndex: log.lastIndex, sendSeq, boot: settings.boot, suspect: state.suspect };
  send(state, from, { type: 'appendResp', match: undefined, reject, ...answer });
}

export function onHeartbeat(state: CoreState, message: Heartbeat): void {
  const { from, commit, round } = message;
  // The leader never names a commit index here that this node has not acknowledged; but a life before this one may
  // have, and then only an append shows whether the entry that is there now is the same.
  if (!isCredible(state, message, commit)) return;
  onLeaderContact(state, from);
  // The leader answers with an append, which in the end settles the suspicion.
  if (state.suspect) sendOwnStart(state, from);
  else commitTo(state, commit);
  const { log, settings } = state;
  state.outbox.send({
    clusterId: settings.clusterId,
    from: settings.id,
    to: from,
    term: state.term,
    type: 'heartbeatResp',
    round,
    applyLag: log.committed - state.applied,
    diskSlow: state.diskSlow,
    boot: settings.boot,
    // A suspect node may have forgotten a vote: it cannot confirm that no newer leader exists.
    suspect: state.suspect,
  });
}

/** A checkpoint is needed unless the log reaches as far, or agrees with it. */
export function onCheckpointBegin(state: CoreState, message: CheckpointBegin): void {
  const { from, meta, transfer } = message;
  if (!isCredible(state, message, 0)) return;
  onLeaderContact(state, from);
  if (holds(state, meta)) {
    acknowledge(state, from, state.log.committed, 0);
    return;
  }
  state.fetching = meta;
  state.outbox.fetch({ from, meta, transfer });
}

/** The log holds all that the checkpoint covers. What lies behind it may have been acknowledged, and must stay. */
function holds(state: CoreState, meta: CheckpointMeta): boolean {
  const { log } = state;
  if (meta.index > log.committed && log.term(meta.index) === meta.term) commitTo(state, meta.index);
  return meta.index <= log.committed;
}

/**
 * The checkpoint is here, verified, and the state is built from it. False when it is not wanted any more: another
 * leader, another term, or the log has caught up meanwhile.
 */
export function installCheckpoint(state: CoreState, meta: CheckpointMeta): boolean {
  const { fetching, log } = state;
  if (fetching?.index !== meta.index || fetching.sha256 !== meta.sha256) return false;
  state.fetching = undefined;
  if (holds(state, meta)) return false;
  log.restore(meta);
  state.outbox.event({ type: 'commit', index: meta.index });
  state.outbox.skipApplyTo(meta.index);
  state.applied = Math.max(state.applied, meta.index);
  activate(state, meta.config, meta.index);
  if (state.leader !== undefined) acknowledge(state, state.leader, meta.index, 0);
  return true;
}

function onLeaderContact(state: CoreState, leader: MemberId): void {
  invariant(state.role !== 'leader', () => `${leader} also leads term ${state.term}`);
  if (state.role !== 'follower' || state.leader !== leader) becomeFollower(state, state.term, leader);
  state.electionElapsed = 0;
  state.silentTicks = 0;
}

type OfLeader = Append | Heartbeat | CheckpointBegin;

/**
 * Returns whether a message may come from a leader; otherwise it is not taken as one. `acked`: the index that the
 * sender counts as acknowledged by this node.
 */
function isCredible(state: CoreState, message: OfLeader, acked: Index): boolean {
  const { log, role, term } = state;
  if (role === 'leader') refuseMessage(state, message, `it says that it leads term ${term}, which this node leads`);
  else if (acked > log.lastIndex) noteLoss(state, message, acked, log.lastIndex);
  else return true;
  return false;
}

/** Entries follow one another and the position before them, and are of no term to come. */
function isInOrder(state: CoreState, message: Append): boolean {
  let { prevIndex: index, prevTerm: term } = message;
  for (const entry of message.entries) {
    if (entry.index !== index + 1 || entry.term < term || entry.term > message.term) {
      refuseMessage(
        state,
        message,
        `entry ${entry.index} of term ${entry.term} cannot follow entry ${index} of term ${term}`,
      );
      return false;
    }
    ({ index, term } = entry);
  }
  return true;
}

/**
 * Handles a missing entry that this node acknowledged in this term: only the disk can have lost it. Traces of that on
 * the disk and the claim of a leader together prove it. Against a log that was found whole, its witness included, the
 * claim alone proves nothing; an honest leader learns from the answer that it cannot count on this node.
 */
function noteLoss(state: CoreState, message: OfLeader, acked: Index, last: Index): void {
  if (state.suspect) {
    state.poisoned = true;
    state.outbox.event({ type: 'lostData', peer: undefined, acked, last });
    return;
  }
  refuseMessage(
    state,
    message,
    `it counts entry ${acked} as acknowledged here, this log holds what it held and agrees up to ${last}`,
  );
  if (acked > state.log.lastIndex) sendOwnStart(state, message.from);
}

function refuseMessage(state: CoreState, { from, type }: OfLeader, why: string): void {
  state.outbox.event({ type: 'refused', from, message: type, why });
}
