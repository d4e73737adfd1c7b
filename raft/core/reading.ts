// Linearizable reads: the leader confirms its leadership for them, other members ask it.
import { hasQuorum } from './quorum.ts';
import type { PendingRead } from './read-rounds.ts';
import { broadcastHeartbeat } from './replication.ts';
import { type CoreState, hasCommittedInTerm, send } from './state.ts';
import type { Index, MemberId } from './types.ts';

/** A read of this node. Without a leader it is refused at once; the driver asks again with a fresh id. */
export function read(state: CoreState, id: number): void {
  if (state.role === 'leader') addRead(state, { id, from: undefined });
  else if (state.leader === undefined) state.outbox.read(id, undefined);
  else send(state, state.leader, { type: 'readIndexReq', id });
}

/** Leader: the read waits for the next round, which starts with this turn's output if none is in flight. */
export function addRead(state: CoreState, read: PendingRead): void {
  if (state.role !== 'leader' || state.reads.size >= state.settings.pendingReads) answer(state, read, undefined);
  else state.reads.add(read);
}

/** Begins the next round when one is due. Before an entry of its own term is committed a leader can't know what is. */
export function startReadRound(state: CoreState): void {
  // A change of the configuration may complete a round that waits for a member that left.
  if (state.reads.current > 0) confirmRead(state, state.settings.id, state.reads.current);
  while (hasCommittedInTerm(state) && state.reads.start(state.log.committed)) {
    broadcastHeartbeat(state);
    confirmRead(state, state.settings.id, state.reads.current);
  }
}

export function confirmRead(state: CoreState, by: MemberId, number: number): void {
  const round = state.reads.confirmed(by, number, (has) => hasQuorum(state.config, has));
  for (const pending of round?.reads ?? []) answer(state, pending, round?.index);
}

function answer(state: CoreState, { id, from }: PendingRead, index: Index | undefined): void {
  if (from === undefined) state.outbox.read(id, index);
  else send(state, from, { type: 'readIndexResp', id, index });
}
