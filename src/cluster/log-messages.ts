// What raft reports, in the words of the line to the log.
import { type Committed, identityOf, type Outcome, type RoleReport } from '../../raft/index.ts';
import type { FromLog, Refusal } from './log-port.ts';

const noQuorum: Refusal = { outcome: 'not-applied', reason: 'no quorum could be reached' };

export function committedMessage({ first, last, term, logTime, entries }: Committed): FromLog {
  const commands = entries.map(({ index, payload }) => ({ index, bytes: payload }));
  return { type: 'committed', first, last, term, logTime, entries: commands };
}

export function outcomeMessage(id: number, outcome: Outcome): FromLog {
  if (outcome.kind === 'committed') return { type: 'outcome', id, index: outcome.index };
  const { kind, why } = outcome;
  return { type: 'outcome', id, refused: { outcome: kind === 'unknown' ? 'unknown' : 'not-applied', reason: why } };
}

/** Without an index no quorum confirmed it. */
export const readableMessage = (id: number, index: number | undefined): FromLog =>
  index === undefined ? { type: 'readable', id, refused: noQuorum } : { type: 'readable', id, index };

export const roleMessage = ({ role, leader }: RoleReport): FromLog => ({
  type: 'role',
  role: role === 'preCandidate' ? 'candidate' : role,
  leader: leader && { nodeId: identityOf(leader.id).nodeId, address: leader.clientAddress },
});

export const fatalMessage = (reason: string): FromLog => ({ type: 'fatal', reason: `storage failed: ${reason}` });
