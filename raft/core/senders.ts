// Senders that a node accepts (raft.md M10): members of the configurations that it knows. Claims of leadership and
// votes have to come from a voter.
import { isMember, isVoter } from './config-change.ts';
import type { Message, MessageType } from './message.ts';
import type { CoreState } from './state.ts';
import type { MemberId } from './types.ts';

/** Said by candidates and leaders alone. */
const ofVoters: ReadonlySet<MessageType> = new Set([
  'preVote',
  'vote',
  'append',
  'heartbeat',
  'checkpointBegin',
  'timeoutNow',
]);

/** Returns true for a message whose sender this node has no reason to listen to. */
export function isStranger(state: CoreState, { from, term, type }: Message): boolean {
  if (isJoining(state)) return false;
  const needsVote = ofVoters.has(type);
  if (isNamed(state, from, needsVote ? isVoter : isMember)) return false;
  // Its election counted, or it leads until the configuration that takes its vote is known everywhere.
  if (from === state.leader && term === state.term) return false;
  return !(isLeftAlone(state) && (state.settings.peersAreProven || isNamed(state, from, isMember)));
}

/** The configuration in force names it, or the one that is open in this log. */
function isNamed({ config, log }: CoreState, id: MemberId, names: typeof isMember): boolean {
  if (names(config, id)) return true;
  const open = log.pendingConfig;
  return open !== undefined && names(open.config, id);
}

/**
 * Returns whether this node waits for a first configuration that names it: a learner gets it from a leader it cannot
 * know.
 */
function isJoining(state: CoreState): boolean {
  const { config, removed, settings } = state;
  return !removed && !config.removed.includes(settings.id) && !isNamed(state, settings.id, isMember);
}

/**
 * Returns whether this node has led no term and had no contact with a leader for longer than an election takes. The
 * members may be others by now, and only they can tell it: a node that was away while its peers were replaced would
 * wait for ever.
 */
function isLeftAlone({ role, settings, silentTicks }: CoreState): boolean {
  return role !== 'leader' && silentTicks >= 2 * settings.electionTicks;
}
