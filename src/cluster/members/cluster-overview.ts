// Overview of the cluster for `GET /cluster`, from the status of raft.

import { identityOf, type Member, type MemberId, type MemberStatus } from '../../../raft/index.ts';
import type { ClusterOverview, MemberView } from '../../model/answers/cluster-answers.ts';

export function overviewOf(status: MemberStatus, clustered: boolean): ClusterOverview {
  const { clusterId, leader, term, commit, applied, firstIndex, lastIndex, lastTerm, config } = status;
  return {
    clustered,
    clusterId: clusterId ?? null,
    leader: leader === undefined ? null : identityOf(leader).nodeId,
    term,
    commit,
    applied,
    log: { first: firstIndex, last: lastIndex, lastTerm },
    members: config.members.map((member) => memberView(member, status)),
    candidates: candidatesOf(status).map(({ id, address }) => ({
      nodeId: identityOf(id).nodeId,
      raftAddress: address,
    })),
  };
}

/** Returns the nodes that can be added: a greeting from before a node joined stays as long as its connection does. */
export function candidatesOf({ candidates, config }: MemberStatus): readonly Member[] {
  const known = new Set([...config.members.map(({ id }) => id), ...config.removed]);
  return candidates.filter(({ id }) => !known.has(id));
}

function memberView({ id, address, clientAddress }: Member, status: MemberStatus): MemberView {
  const { nodeId, incarnation } = identityOf(id);
  const addresses = { raftAddress: address, apiAddress: clientAddress };
  return {
    nodeId,
    incarnation,
    role: roleOf(id, status),
    ...addresses,
    ...progressOf(id, status),
    ...clockOf(id, status),
  };
}

function clockOf(id: MemberId, { id: own, clockOffsets }: MemberStatus): Pick<MemberView, 'clockOffsetSeconds'> {
  const offset = id === own ? 0 : clockOffsets[id];
  return { clockOffsetSeconds: offset === undefined ? null : offset / 1000 };
}

function roleOf(id: MemberId, { leader, config }: MemberStatus): MemberView['role'] {
  if (id === leader) return 'leader';
  if (config.voters.includes(id)) return 'voter';
  return config.outgoing.includes(id) ? 'leaving' : 'learner';
}

/** Only a leader knows how far the others are. */
function progressOf(id: MemberId, status: MemberStatus): Pick<MemberView, 'match' | 'lag' | 'healthy'> {
  if (status.role !== 'leader') return { match: null, lag: null, healthy: null };
  if (id === status.id) return { match: status.lastIndex, lag: 0, healthy: !status.suspect };
  const peer = status.peers.find((one) => one.id === id);
  const match = peer?.match ?? 0;
  return { match, lag: Math.max(0, status.commit - match), healthy: peer?.heard ?? false };
}
