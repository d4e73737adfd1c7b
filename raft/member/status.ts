// Status of a member for metrics and debugging (raft.md A22). Plain data: it crosses the thread border.

import { isHeard } from '../core/leader.ts';
import type { Role } from '../core/output.ts';
import type { CoreState } from '../core/state.ts';
import type { CheckpointMeta, Config, Index, Member, MemberId, Term } from '../core/types.ts';
import type { MemberCounts } from '../driver/stats.ts';
import type { TransportCounts } from '../transport/tcp-transport.ts';
import type { ThreadReport } from './thread-report.ts';

export interface PeerStatus {
  readonly id: MemberId;
  readonly state: 'probe' | 'replicate' | 'checkpoint';
  readonly match: Index;
  /** The next entry it will be sent. */
  readonly next: Index;
  /** Appends on their way to it. */
  readonly inflight: number;
  /** True when a message of it arrived within the last election timeout. */
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
  /** Counts of messages and connections that the transport dropped or refused; undefined for a cluster of one. */
  readonly transport: TransportCounts | undefined;
  /** The newest checkpoint: position, log time (Unix ms) and bytes. */
  readonly checkpoint: Pick<CheckpointMeta, 'index' | 'time' | 'size'> | undefined;
  /** For how long the disk has owed an answer, milliseconds. */
  readonly syncOutstandingMs: number;
  /** Milliseconds since a message of each member came last; absent: none has come since the start. */
  readonly heardMs: Readonly<Record<MemberId, number>>;
  /** Milliseconds that the clock of each member is ahead of this node's; members that tell it at the moment. */
  readonly clockOffsets: Readonly<Record<MemberId, number>>;
  readonly counts: MemberCounts;
  /** Report of the worker that it runs in; absent without one. */
  readonly thread?: ThreadReport;
}

/** Fields of the status that are not the core's. */
type Surroundings = Pick<
  MemberStatus,
  'transport' | 'candidates' | 'checkpoint' | 'syncOutstandingMs' | 'heardMs' | 'clockOffsets' | 'counts'
>;

export function statusOf(state: Readonly<CoreState>, surroundings: Surroundings): MemberStatus {
  const { settings, role, term, leader, log, applied, suspect, config, progress } = state;
  const { transport, checkpoint } = surroundings;
  const peers = [...progress].map(([id, peer]) => ({
    id,
    state: peer.state,
    match: peer.match,
    next: peer.next,
    inflight: peer.inflight,
    heard: isHeard(state, id),
  }));
  return {
    ...surroundings,
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
    transport: transport && { ...transport },
    checkpoint: checkpoint && { index: checkpoint.index, time: checkpoint.time, size: checkpoint.size },
  };
}
