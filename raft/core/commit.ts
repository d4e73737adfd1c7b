// Advancing the commit index, and the one thing the core itself does with committed entries: a configuration
// takes effect at the moment its entry is committed.
import { isMember, isVoter, memberIds } from './config-change.ts';
import { noteRemoved } from './leaving-voter.ts';
import type { PreVote, PreVoteResp } from './message.ts';
import { Progress } from './progress.ts';
import { committedIndex } from './quorum.ts';
import { sizeOf } from './raft-log.ts';
import { type CoreState, send } from './state.ts';
import type { Config, Index, MemberId } from './types.ts';

/**
 * Leader: commits what a quorum holds on disk. Only an entry of the own term is committed by counting; those
 * before it follow. Never steps over a configuration entry: what comes after it needs the quorum it defines.
 */
export function advanceCommit(state: CoreState): void {
  const { log } = state;
  while (log.committed < log.lastIndex) {
    const counted = committedIndex(state.config, (id) => durableAt(state, id));
    if (counted <= log.committed || log.term(counted) !== state.term) return;
    commitTo(state, Math.min(counted, log.pendingConfig?.index ?? counted));
  }
}

/** Highest index that the leader knows to be on this member's disk, for good. */
function durableAt(state: CoreState, id: MemberId): Index {
  if (id === state.settings.id) return state.log.stable;
  const progress = state.progress.get(id);
  return progress?.counts ? progress.match : 0;
}

export function commitTo(state: CoreState, index: Index): void {
  const { log } = state;
  const before = log.committed;
  if (index <= before) return;
  log.raiseCommit(index);
  state.outbox.event({ type: 'commit', index });
  if (state.role === 'leader') {
    for (let at = before + 1; at <= index; at += 1) state.uncommittedBytes -= sizeOf(log.entry(at)!);
  }
  const entry = log.committedConfig(state.configIndex);
  if (entry !== undefined) activate(state, entry.config, entry.index);
}

/**
 * Commits by the commit index of a peer, which comes with a poll: the entry committed at that position is committed
 * here too if it is the same entry. This counts while the fate of an open configuration is unknown and no leader is
 * left to decide it: nodes that know that it took a vote away lead without that vote, and nodes that do not know must
 * not wait for it. A leader and a candidate go by the configuration with which they began.
 */
export function onPeerCommit(state: CoreState, { commit, commitTerm }: PreVote | PreVoteResp): void {
  const { log, role } = state;
  const open = log.pendingConfig;
  if (open === undefined || open.index > commit || role === 'leader' || role === 'candidate') return;
  if (log.term(commit) === commitTerm) commitTo(state, commit);
}

/** Makes `config` the configuration in force from `index` on, in place of any other from there on. */
export function activate(state: CoreState, config: Config, index: Index): void {
  const before = state.config;
  state.config = config;
  state.configIndex = index;
  state.outbox.event({ type: 'config', index, config });
  const { id } = state.settings;
  if (config.removed.includes(id)) noteRemoved(state, index);
  if (state.role !== 'leader') return;
  reconcileProgress(state);
  for (const member of memberIds(before)) {
    if (!isMember(config, member) && member !== id) send(state, member, { type: 'removed', index });
  }
  if (state.transferee !== undefined && !isVoter(config, state.transferee)) state.transferee = undefined;
  if (!isVoter(config, id) && state.settings.onRemoval !== 'stay') state.resigning = true;
}

/** One progress for every other member; sorted, so that iteration never depends on history. */
export function reconcileProgress(state: CoreState): void {
  const { windowMessages, windowBytes } = state.settings;
  const window = { messages: windowMessages, bytes: windowBytes };
  const progress = new Map<MemberId, Progress>();
  for (const id of memberIds(state.config)) {
    if (id === state.settings.id) continue;
    progress.set(id, state.progress.get(id) ?? newcomer(state.log.lastIndex, window));
  }
  state.progress = progress;
}

/** A newcomer counts as active, or the next quorum check would step down for members that had no time to answer. */
function newcomer(lastIndex: Index, window: { messages: number; bytes: number }): Progress {
  const progress = new Progress(Math.max(lastIndex, 1), window);
  progress.active = true;
  return progress;
}
