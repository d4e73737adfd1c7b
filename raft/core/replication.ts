// The leader's sending side: appends, heartbeats, the offer of a checkpoint.
import type { Progress } from './progress.ts';
import { sizeOf } from './raft-log.ts';
import { type CoreState, send } from './state.ts';
import type { CheckpointMeta, MemberId } from './types.ts';

/** Sends all appends that may go out now, to all peers. Called once per turn, so that one message carries all news. */
export function sendAppends(state: CoreState): void {
  for (const [peer, progress] of state.progress) {
    while (sendAppend(state, peer, progress)) {
      // Until the window is full or no entry is left to send.
    }
  }
}

function sendAppend(state: CoreState, peer: MemberId, progress: Progress): boolean {
  if (progress.isPaused) return false;
  const { log, settings } = state;
  const prevIndex = progress.next - 1;
  const prevTerm = log.term(prevIndex);
  if (prevTerm === undefined) return startCheckpoint(state, peer, progress);
  const hasRoom = progress.state === 'probe' || !progress.isFull;
  const hasMore = hasRoom && progress.next <= log.lastIndex;
  const entries = hasMore ? log.slice(progress.next, settings.appendBytes, settings.appendEntries) : [];
  if (entries.length === 0 && !progress.wantsEmpty(log.committed)) return false;
  let bytes = 0;
  for (const entry of entries) bytes += sizeOf(entry);
  const youAcked = progress.match;
  const vouchedBoot = progress.vouchedBoot(log.committed);
  state.outbox.send({
    clusterId: settings.clusterId,
    from: settings.id,
    to: peer,
    term: state.term,
    type: 'append',
    prevIndex,
    prevTerm,
    entries,
    commit: log.committed,
    sendSeq: progress.sending(entries.at(-1)?.index, bytes, log.committed),
    youAcked,
    vouchedBoot,
  });
  return progress.state === 'replicate';
}

/** The entries it needs are compacted away. A peer that does not answer gets no checkpoint. */
function startCheckpoint(state: CoreState, peer: MemberId, progress: Progress): false {
  if (!progress.wasActive) return false;
  progress.becomeCheckpoint();
  state.outbox.event({ type: 'progress', peer, state: 'checkpoint' });
  state.outbox.needsCheckpoint(peer);
  return false;
}

/** The driver chose the checkpoint that `needsCheckpoint` asked for. */
export function offerCheckpoint(state: CoreState, peer: MemberId, meta: CheckpointMeta, transfer: number): boolean {
  const progress = state.progress.get(peer);
  if (state.role !== 'leader' || progress?.state !== 'checkpoint') return false;
  progress.pendingCheckpoint = meta.index;
  send(state, peer, { type: 'checkpointBegin', meta, transfer });
  return true;
}

export function broadcastHeartbeat(state: CoreState): void {
  for (const [peer, progress] of state.progress) {
    state.outbox.send({
      clusterId: state.settings.clusterId,
      from: state.settings.id,
      to: peer,
      term: state.term,
      type: 'heartbeat',
      commit: Math.min(progress.match, state.log.committed),
      round: state.reads.current,
    });
  }
}
