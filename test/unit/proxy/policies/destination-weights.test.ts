import { expect } from 'chai';
import type { DestinationChoice } from '../../../../src/proxy/forward/destination-choice.ts';
import { destinationChoice } from '../../../../src/proxy/forward/destination-choice.ts';
import { compileShares, type Share } from '../../../../src/proxy/forward/share.ts';
import type { Upstream, Upstreams } from '../../../../src/proxy/upstream/upstreams.ts';
import { seededRandom } from '../../../support/random.ts';

const ids = ['a', 'b', 'c'];
const upstreams = { get: (id: string) => ({ id, available: true }) as Upstream } as Upstreams;
const answer = { directResponse: { status: 503 } };

/** Entries are destinations, the one at `answerAt` a fixed answer. */
function choiceOf(weights: readonly number[], answerAt = -1): DestinationChoice {
  const destinations = weights.map((weight, at) => ({
    weight,
    ...(at === answerAt ? answer : { destinationId: ids[at] ?? '' }),
  }));
  const forward = { destinations, destinationBalancing: { algorithm: 'WEIGHTED_CONSISTENT_HASH' } } as const;
  return destinationChoice(forward, compileShares(forward, undefined, []));
}

function sharesOf(choice: DestinationChoice, pick: (n: number) => Share | undefined): number[] {
  const counts = choice.shares.map(() => 0);
  for (let n = 0; n < 100_000; n++) {
    const at = choice.shares.indexOf(pick(n) as Share);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts.map((count) => count / 1000);
}

describe('weights of destinations', () => {
  for (const [weights, answerAt] of [
    [[1, 1, 1]],
    [[1, 1, 1], 1],
    [[1, 999]],
    [[1, 999], 0],
    [[0, 1]],
    [[0, 1], 1],
    [[1_000_000, 1_000_000]],
    [[60, 40]],
  ] as const satisfies readonly (readonly [readonly number[], number?])[]) {
    const total = weights.reduce((sum: number, weight) => sum + weight, 0);
    const title = `${weights.join(':')}${answerAt === undefined ? '' : `, the ${answerAt + 1}. a fixed answer,`}`;
    const isExact = (shares: readonly number[]): void => {
      for (const [at, weight] of weights.entries()) {
        expect(shares[at]).to.be.closeTo((100 * weight) / total, 1);
        if (weight === 0) expect(shares[at]).to.equal(0);
      }
    };

    it(`${title} shares 100,000 requests out within one point`, () => {
      const random = seededRandom(7);
      const choice = choiceOf(weights, answerAt);
      isExact(sharesOf(choice, () => choice.byWeight(upstreams, random)));
    });

    it(`${title} shares 100,000 sessions out within one point`, () => {
      const choice = choiceOf(weights, answerAt);
      isExact(sharesOf(choice, (n) => choice.bySession(upstreams, `session-${n}`, 'r')));
    });
  }

  it('a number on the border of two destinations belongs to the second', () => {
    const at = (weights: readonly number[], number: number) => choiceOf(weights).byWeight(upstreams, () => number)?.key;
    expect([at([1, 1], 0), at([1, 1], 0.499), at([1, 1], 0.5), at([0, 1], 0)]).to.deep.equal(['a', 'a', 'b', 'b']);
  });

  it('a destination that is listed is found by its key while it serves', () => {
    const choice = choiceOf([1, 1, 1]);
    const without = { get: (id: string) => ({ id, available: id !== 'b' }) as Upstream } as Upstreams;
    expect(choice.listed(upstreams, 'b')?.destinationId).to.equal('b');
    expect(choice.listed(without, 'b')).to.equal(undefined);
    expect(choice.listed(upstreams, 'gone')).to.equal(undefined);
  });

  const sessions = Array.from({ length: 10_000 }, (_, n) => `s${n}`);
  const owners = (choice: DestinationChoice, all = upstreams): (string | undefined)[] =>
    sessions.map((session) => choice.bySession(all, session, 'r')?.key);

  it('sessions depend on the proportion of weights alone', () => {
    expect(owners(choiceOf([1_000_000, 1_000_000]))).to.deep.equal(owners(choiceOf([50, 50])));
  });

  it('a weight that grows moves only sessions to its destination', () => {
    const [before, after] = [owners(choiceOf([1, 1, 1])), owners(choiceOf([1, 2, 1]))];
    const moved = after.filter((owner, at) => owner !== before[at]);
    expect(new Set(moved)).to.deep.equal(new Set(['b']));
    expect(moved.length).to.be.closeTo(sessions.length / 6, 150);
  });

  it('a destination that is not available leaves only its own sessions to the others', () => {
    const without = { get: (id: string) => ({ id, available: id !== 'a' }) as Upstream } as Upstreams;
    const [before, after] = [owners(choiceOf([1, 1, 1])), owners(choiceOf([1, 1, 1]), without)];
    for (const [at, owner] of after.entries()) {
      if (before[at] === 'a') expect(owner).to.be.oneOf(['b', 'c']);
      else expect(owner).to.equal(before[at]);
    }
  });

  it('entries of one destination have sessions of their own each', () => {
    const destinations = [
      { destinationId: 'a', weight: 1 },
      { destinationId: 'a', weight: 1 },
    ];
    const forward = { destinations, destinationBalancing: { algorithm: 'WEIGHTED_CONSISTENT_HASH' } } as const;
    const choice = destinationChoice(forward, compileShares(forward, undefined, []));
    const shares = sharesOf(choice, (n) => choice.bySession(upstreams, `session-${n}`, 'r'));
    for (const share of shares) expect(share).to.be.closeTo(50, 1);
  });
});
