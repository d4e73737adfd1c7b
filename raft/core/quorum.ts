// Majorities of plain and joint configurations. Pure functions over ids; used for commits, votes, read rounds and the
// leader's check that it still reaches a quorum.
import type { Config, Index, MemberId } from './types.ts';

export type VoteResult = 'won' | 'lost' | 'pending';
type Halves = Pick<Config, 'voters' | 'outgoing'>;

/** Highest index that a majority of both halves holds; without any voters there is no limit: Infinity. */
export function committedIndex({ voters, outgoing }: Halves, matched: (id: MemberId) => Index): Index {
  return Math.min(majorityIndex(voters, matched), majorityIndex(outgoing, matched));
}

/** An empty half agrees to everything: the other half decides. */
function majorityIndex(voters: readonly MemberId[], matched: (id: MemberId) => Index): Index {
  if (voters.length === 0) return Number.POSITIVE_INFINITY;
  const indexes = voters.map(matched);
  // Members are few: counting those that hold each index is quicker than sorting them, on the path of every entry.
  const needed = quorumOf(indexes.length);
  let highest = 0;
  for (const index of indexes) if (index > highest && countFrom(indexes, index) >= needed) highest = index;
  return highest;
}

/** `vote` gives undefined for members that have not answered. */
export function voteResult({ voters, outgoing }: Halves, vote: (id: MemberId) => boolean | undefined): VoteResult {
  const halves = [majorityVote(voters, vote), majorityVote(outgoing, vote)];
  if (halves.includes('lost')) return 'lost';
  return halves.includes('pending') ? 'pending' : 'won';
}

function majorityVote(voters: readonly MemberId[], vote: (id: MemberId) => boolean | undefined): VoteResult {
  if (voters.length === 0) return 'won';
  let granted = 0;
  let missing = 0;
  for (const id of voters) {
    const answer = vote(id);
    if (answer === undefined) missing += 1;
    else if (answer) granted += 1;
  }
  const needed = quorumOf(voters.length);
  if (granted >= needed) return 'won';
  return granted + missing >= needed ? 'pending' : 'lost';
}

export function hasQuorum(halves: Halves, present: (id: MemberId) => boolean): boolean {
  return voteResult(halves, (id) => present(id)) === 'won';
}

/** Returns how many members hold `index`. */
function countFrom(indexes: readonly Index[], index: Index): number {
  let count = 0;
  for (const other of indexes) if (other >= index) count += 1;
  return count;
}

function quorumOf(size: number): number {
  return Math.floor(size / 2) + 1;
}
