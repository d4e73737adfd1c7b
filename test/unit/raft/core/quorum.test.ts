import { expect } from 'chai';
import { committedIndex, hasQuorum, voteResult } from '../../../../raft/core/quorum.ts';

const ids = ['1', '2', '3', '4', '5'];
const subsets = Array.from({ length: 32 }, (_, mask) => ids.filter((_id, at) => mask & (1 << at)));

/** By definition: the largest index such that a majority of each half holds it. */
function naiveCommitted(halves: readonly (readonly string[])[], acked: ReadonlyMap<string, number>): number {
  const holds = (index: number) =>
    halves.every((half) => half.length === 0 || half.filter((id) => acked.get(id)! >= index).length * 2 > half.length);
  return [3, 2, 1, 0].find(holds) ?? 0;
}

describe('quorum', () => {
  it('agrees with the definition for every joint configuration of up to five members', () => {
    let cases = 0;
    for (const voters of subsets.slice(1)) {
      for (const outgoing of subsets) {
        const members = [...new Set([...voters, ...outgoing])];
        for (let code = 0; code < 4 ** members.length; code += members.length > 3 ? 7 : 1) {
          const acked = new Map(members.map((id, at) => [id, Math.floor(code / 4 ** at) % 4]));
          const index = committedIndex({ voters, outgoing }, (id) => acked.get(id)!);
          if (index !== naiveCommitted([voters, outgoing], acked)) expect.fail(`${voters} | ${outgoing}: ${index}`);
          cases += 1;
        }
      }
    }
    expect(cases).to.be.greaterThan(50_000);
  });

  it('decides a vote exactly when the open answers can not change it', () => {
    for (const voters of subsets.slice(1)) {
      for (const outgoing of [[], ...subsets.filter((half) => half.length === 3)]) {
        const members = [...new Set([...voters, ...outgoing])];
        for (let code = 0; code < 3 ** members.length; code += members.length > 3 ? 5 : 1) {
          const answers = new Map(
            members.map((id, at) => [id, [undefined, false, true][Math.floor(code / 3 ** at) % 3]]),
          );
          const wins = (open: boolean) =>
            [voters, outgoing].every(
              (half) => half.length === 0 || half.filter((id) => answers.get(id) ?? open).length * 2 > half.length,
            );
          const expected = wins(false) ? 'won' : wins(true) ? 'pending' : 'lost';
          const result = voteResult({ voters, outgoing }, (id) => answers.get(id));
          if (result !== expected) expect.fail(`${voters} | ${outgoing}: ${result}, not ${expected}`);
        }
      }
    }
  });

  it('compares indexes as numbers', () => {
    const acked: Record<string, number> = { 1: 9, 2: 10, 3: 100 };
    expect(committedIndex({ voters: ['1', '2', '3'], outgoing: [] }, (id) => acked[id]!)).to.equal(10);
  });

  it('needs a majority of both halves', () => {
    const halves = { voters: ['1', '2', '3'], outgoing: ['3', '4', '5'] };
    expect(hasQuorum(halves, (id) => id !== '4' && id !== '5')).to.equal(false);
    expect(hasQuorum(halves, (id) => ['1', '3', '4'].includes(id))).to.equal(true);
  });
});
