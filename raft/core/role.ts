// Changes of role that every rule may cause: following, and giving up what belonged to the role before.

import type { Role } from './output.ts';
import { type CoreState, redrawElectionTimeout, send } from './state.ts';
import type { MemberId, Term } from './types.ts';

/** Follows `leader` (or no leader yet) in `term`. A higher term clears the vote; this function never grants it. */
export function becomeFollower(state: CoreState, term: Term, leader: MemberId | undefined): void {
  const isNewTerm = term !== state.term;
  if (isNewTerm) {
    state.term = term;
    state.vote = undefined;
  }
  if (isNewTerm || leader !== state.leader) state.fetching = undefined;
  if (state.role === 'leader') stopLeading(state);
  changeRole(state, 'follower', leader, isNewTerm);
}

/** Resets the timers, and reports the change when there is one. */
export function changeRole(state: CoreState, role: Role, leader: MemberId | undefined, isNewTerm: boolean): void {
  const isChange = isNewTerm || role !== state.role || leader !== state.leader;
  state.role = role;
  state.leader = leader;
  state.electionElapsed = 0;
  state.heartbeatElapsed = 0;
  state.electionTimeout = redrawElectionTimeout(state);
  if (isChange) state.outbox.event({ type: 'role', role, term: state.term, leader });
}

function stopLeading(state: CoreState): void {
  state.progress = new Map();
  state.transferee = undefined;
  state.uncommittedBytes = 0;
  state.resigning = false;
  for (const { id, from } of state.reads.abort()) {
    if (from === undefined) state.outbox.read(id, undefined);
    else send(state, from, { type: 'readIndexResp', id, index: undefined });
  }
}
