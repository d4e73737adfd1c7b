// Leaving voter: a voter that a configuration takes the vote from, and its remaining requirement for candidates. A
// candidate that still asks it does not know yet that the configuration is committed; the voter cannot lead itself
// once it was informed, so insisting on its whole log could block such candidates for ever. Requiring the entry alone
// would be too little.
import { isVoter } from './config-change.ts';
import type { CoreState } from './state.ts';
import type { Index, LogPosition, Term } from './types.ts';

/** This identity left the configuration, at that index. */
export function noteRemoved(state: CoreState, index: Index): void {
  if (state.removed) return;
  state.removed = true;
  // The entry that committed the removal is here already, or was never needed from here.
  state.removalEvidence = evidenceOfRemoval(state);
  state.outbox.event({ type: 'removed', index });
}

/** A candidate's log must reach as far as this one, or as far as what the removal of this node may be committed by. */
export function holdsEnough(state: CoreState, lastIndex: Index, lastTerm: Term): boolean {
  const end = state.removalEvidence ?? evidenceOfRemoval(state);
  if (end === undefined) return state.log.isUpToDate(lastIndex, lastTerm);
  return lastTerm > end.term || (lastTerm === end.term && lastIndex >= end.index);
}

/**
 * Position that a candidate's log needs as evidence that this node's vote was taken away; undefined while this node
 * votes, as far as it knows. The commit index never steps over a configuration that is open, so entries behind the one
 * that takes the vote are committed without this node. But that configuration itself may have been committed by an
 * entry behind it: an entry of an earlier term follows the first entry of a leader's own. A log that ends in a term
 * between the two lacks it, and a leader elected with that log and this node's vote would undo it. So the candidate
 * needs the first entry, from the configuration on, of the last term known to this node.
 */
function evidenceOfRemoval({ config, configIndex, log, settings }: CoreState): LogPosition | undefined {
  const pending = log.pendingConfig;
  if (configIndex === 0 || (pending !== undefined && isVoter(pending.config, settings.id))) return undefined;
  const takesVote = isVoter(config, settings.id) ? pending?.index : configIndex;
  return takesVote === undefined ? undefined : log.startOfLastTerm(takesVote);
}
