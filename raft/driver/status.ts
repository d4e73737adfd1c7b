// What a member says about itself for metrics and debugging (raft.md A22). Plain data: it crosses the thread border.

import { isHeard } from '../core/leader.ts';
import type { Role } from '../core/output.ts';
import type { CoreState } from '../core/state.ts';
import type { Config, Index, Member, MemberId, Term } from '../core/types.ts';
import type { TransportCounts } from './tcp-transport.ts';

export interface PeerStatus {
  readonly id: MemberId;
  readonly state: 'probe' | 'replicate' | 'checkpoint';
  readonly match: Index;
  /** It was heard of within the last election timeout. */
  readonly heard: boolean;
}

export interface MemberStatus {
  readonly clusterId: string | undefined;
  readonly id: MemberId;
  readonly role: Role;
  readonly term: Term;
  readonly leader: MemberId | undefined;
  readonly commit: Index;
  readonly applied: Index;
  readonly firstIndex: Index;
  /** Position and term of the last entry: of two logs the one with the higher term, then the longer one, reaches further. */
  readonly lastIndex: Index;
  readonly lastTerm: Term;
  readonly suspect: boolean;
  readonly config: Config;
  /** On a leader: what it knows of the others. */
  readonly peers: readonly PeerStatus[];
  /** Connected nodes that belong to no cluster yet. */
  readonly candidates: readonly Member[];
  /** What the transport dropped or refused; undefined for a cluster of one. */
  readonly transport: TransportCounts | undefined;
}

export function statusOf(
  state: Readonly<CoreState>,
  transport: TransportCounts | undefined,
  candidates: readonly Member[],
): MemberStatus {
  const { settings, role, term, leader, log, applied, suspect, config, progress } = state;
  const peers = [...progress].map(([id, peer]) => ({
    id,
    state: peer.state,
    match: peer.match,
    heard: isHeard(state, id),
  }));
  return {
    clusterId: settings.clusterId,
    id: settings.id,
    role,
    term,
    leader,
    commit: log.committed,
    applied,
    firstIndex: log.base.index + 1,
    lastIndex: log.lastIndex,
    lastTerm: log.lastTerm,
    suspect,
    config,
    peers,
    candidates,
    transport: transport && { ...transport },
  };
}
