// Words for a missing quorum: which voters this node has not heard, and for how long.
import { identityOf, type MemberId, type MemberStatus } from '../../../raft/index.ts';

/** A voter that was heard this long ago is silent: leaders and candidates speak at least once a second or two. */
const silentMs = 3_000;

/**
 * `no quorum: b unheard for 12 s, c unheard for 12 s`; undefined while enough voters are heard. Followers do not speak to
 * each other while there is a leader, so nothing before its loss counts.
 */
export function noQuorumText({ id: own, config, heardMs }: MemberStatus, leaderlessMs: number): string | undefined {
  const unheardMs = (id: MemberId): number => Math.min(heardMs[id] ?? Number.POSITIVE_INFINITY, leaderlessMs);
  const silent = config.voters.filter((id) => id !== own && unheardMs(id) > silentMs);
  if (config.voters.length - silent.length > config.voters.length / 2) return undefined;
  return `no quorum: ${silent.map((id) => `${identityOf(id).nodeId} unheard for ${Math.round(unheardMs(id) / 1000)} s`).join(', ')}`;
}
