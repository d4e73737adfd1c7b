// Changes between two configurations of the cluster, in the operator's words: `d added as a learner`, `b replaced by d`.
import { type Config, identityOf, type MemberId } from '../../../raft/index.ts';

export interface MemberLine {
  /** Member whose change was asked for. */
  readonly id: MemberId;
  readonly text: string;
}

/** Lines from one settled configuration to the next; none from the empty one, which a joining node begins with. */
export function memberChanges(before: Config, now: Config): MemberLine[] {
  if (before.members.length === 0) return [];
  const had = new Set(before.members.map(({ id }) => id));
  const has = new Set(now.members.map(({ id }) => id));
  const gone = before.members.map(({ id }) => id).filter((id) => !has.has(id));
  const newVoters = now.voters.filter((id) => !before.voters.includes(id));
  const lines: MemberLine[] = [];
  for (const id of now.learners) {
    if (!had.has(id)) lines.push({ id, text: `${nameOf(id)} added as a learner` });
    else if (before.voters.includes(id)) lines.push({ id, text: `${nameOf(id)} demoted to a learner` });
  }
  for (const id of newVoters) {
    const replaced = gone.findIndex((one) => before.voters.includes(one));
    const [former] = replaced < 0 ? [] : gone.splice(replaced, 1);
    if (former !== undefined) lines.push({ id: former, text: `${nameOf(former)} replaced by ${nameOf(id)}` });
    else lines.push({ id, text: `${nameOf(id)} ${had.has(id) ? 'promoted' : 'added as a voter'}` });
  }
  return [...lines, ...gone.map((id) => ({ id, text: `${nameOf(id)} removed` }))];
}

const nameOf = (id: MemberId): string => identityOf(id).nodeId;
