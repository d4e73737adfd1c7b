// Automatic joining, run by a leader for the nodes it is connected to (architecture.md §7.11, raft.md A14 M7): empty
// nodes become learners, and members that moved get their new address. One change at a time; the rest waits for the
// next look.
import { type Config, type MemberId, memberId } from '../core/types.ts';
import type { MembershipChange } from '../driver/driver-host.ts';
import { type Founder, memberOf } from '../membership/bootstrap.ts';

export interface RecruitPolicy {
  readonly autoJoin: 'none' | 'learner';
}

/**
 * Returns the change that is due, or undefined. `met` are the latest greetings of all connected nodes, and this node's
 * own.
 */
export function changeDue(
  config: Config,
  met: readonly Founder[],
  { autoJoin }: RecruitPolicy,
): MembershipChange | undefined {
  for (const candidate of met) {
    const id = memberId(candidate);
    const known = config.members.find((member) => member.id === id);
    const joins = autoJoin === 'learner' && candidate.clusterId === undefined && !isRemoved(config, id);
    if (known === undefined && joins) return { op: 'addLearner', member: memberOf(candidate) };
    const moved = known !== undefined && candidate.address !== '' && known.address !== candidate.address;
    if (moved || (known !== undefined && known.clientAddress !== candidate.clientAddress)) {
      return { op: 'update', member: memberOf(candidate) };
    }
  }
  return undefined;
}

function isRemoved(config: Config, id: MemberId): boolean {
  return config.removed.includes(id);
}
