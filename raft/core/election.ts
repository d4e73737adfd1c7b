// Elections: pre-votes, which disturb no other node, then votes. A node never loses a leader whose messages still
// arrive.
import { onPeerCommit } from './commit.ts';
import { isVoter } from './config-change.ts';
import { becomeLeader } from './leader.ts';
import { holdsEnough } from './leaving-voter.ts';
import type { PreVote, PreVoteResp, Vote, VoteResp } from './message.ts';
import { voteResult } from './quorum.ts';
import { becomeFollower, changeRole } from './role.ts';
import { type CoreState, send } from './state.ts';
import type { Index, MemberId, Term } from './types.ts';

const nonceRange = 0x8000_0000;

/** Returns whether this node may campaign: a node that cannot be sure what it holds, or cannot serve, does not. */
export function isPromotable(state: CoreState): boolean {
  if (state.poisoned || state.suspect || state.removed || !state.mayLead) return false;
  return isVoter(state.config, state.settings.id) && state.fetching === undefined && state.applied >= state.replayTo;
}

/** The election timer fired, or the leader asked for it (`transfer`: no poll, and voters let go of their leader). */
export function campaign(state: CoreState, transfer: boolean): void {
  if (state.role === 'leader' || !isPromotable(state)) return;
  if (state.settings.preVote && !transfer) startPoll(state);
  else startVote(state, transfer);
}

function startPoll(state: CoreState): void {
  changeRole(state, 'preCandidate', undefined, false);
  const nonce = newCampaign(state);
  const { lastIndex, lastTerm, committed } = state.log;
  const known = knownCommit(state, committed);
  for (const peer of otherVoters(state))
    send(state, peer, { type: 'preVote', term: state.term + 1, lastIndex, lastTerm, nonce, ...known });
  count(state, state.settings.id, true);
}

/** The own vote counts when it is on disk, and the requests leave then too: they advertise the tail of the log. */
function startVote(state: CoreState, transfer: boolean): void {
  state.term += 1;
  state.vote = state.settings.id;
  state.fetching = undefined;
  changeRole(state, 'candidate', undefined, true);
  const nonce = newCampaign(state);
  const { lastIndex, lastTerm } = state.log;
  for (const peer of otherVoters(state)) send(state, peer, { type: 'vote', lastIndex, lastTerm, nonce, transfer });
}

function newCampaign(state: CoreState): number {
  state.votes = new Map();
  state.nonce = state.rng.below(nonceRange);
  return state.nonce;
}

function otherVoters({ config, settings }: CoreState): MemberId[] {
  const voters = new Set([...config.voters, ...config.outgoing]);
  voters.delete(settings.id);
  return [...voters].sort();
}

/** Called when a write reached the disk. */
export function countOwnVote(state: CoreState): void {
  const { id } = state.settings;
  const { term, vote } = state.outbox.durable;
  if (state.role === 'candidate' && term === state.term && vote === id && !state.votes.has(id)) count(state, id, true);
}

/** Only members of the configuration in force decide. */
function count(state: CoreState, from: MemberId, granted: boolean): void {
  state.votes.set(from, granted);
  const result = voteResult(state.config, (id) => state.votes.get(id));
  if (result === 'lost') becomeFollower(state, state.term, undefined);
  if (result !== 'won') return;
  if (state.role === 'preCandidate') startVote(state, false);
  else becomeLeader(state);
}

export function onPreVoteResp(state: CoreState, message: PreVoteResp): void {
  const { from, granted, nonce, term } = message;
  onPeerCommit(state, message);
  if (state.role !== 'preCandidate' || nonce !== state.nonce || state.votes.has(from)) return;
  // The message may have shown that this node has no vote.
  if (!isPromotable(state)) becomeFollower(state, state.term, undefined);
  else if (!granted || term === state.term + 1) count(state, from, granted);
}

export function onVoteResp(state: CoreState, { from, granted, nonce }: VoteResp): void {
  if (state.role === 'candidate' && nonce === state.nonce && !state.votes.has(from)) count(state, from, granted);
}

/**
 * Returns whether this node holds on to its leader: while messages of a leader arrive, pre-votes and votes are not
 * answered, and their term is not adopted.
 */
export function holdsOn(state: CoreState, message: PreVote | Vote): boolean {
  if (message.type === 'vote' && message.transfer) return false;
  const { checkQuorum, electionTicks } = state.settings;
  return checkQuorum && state.leader !== undefined && state.electionElapsed < electionTicks;
}

export function onPreVote(state: CoreState, message: PreVote): void {
  if (state.suspect) return;
  onPeerCommit(state, message);
  const { lastIndex, lastTerm, term } = message;
  answerPoll(state, message, term > state.term && holdsEnough(state, lastIndex, lastTerm));
}

export function answerPoll(state: CoreState, { from, lastIndex, nonce, term }: PreVote, granted: boolean): void {
  const known = knownCommit(state, Math.min(state.log.committed, lastIndex));
  send(state, from, { type: 'preVoteResp', term: granted ? term : state.term, granted, nonce, ...known });
}

/** Nothing for a position that is compacted away. */
function knownCommit({ log }: CoreState, commit: Index): { commit: Index; commitTerm: Term } {
  const commitTerm = log.term(commit);
  return commitTerm === undefined ? { commit: 0, commitTerm: 0 } : { commit, commitTerm };
}

/**
 * Answers a vote request in any role: a learner that was promoted without knowing must not block. A suspect node may
 * have given this vote already.
 */
export function onVote(state: CoreState, { from, lastIndex, lastTerm, nonce }: Vote): void {
  if (state.suspect) return;
  const isFree = state.vote === undefined && state.leader === undefined;
  const granted = (state.vote === from || isFree) && holdsEnough(state, lastIndex, lastTerm);
  if (granted) {
    state.vote = from;
    state.electionElapsed = 0;
  }
  send(state, from, { type: 'voteResp', granted, nonce });
}
