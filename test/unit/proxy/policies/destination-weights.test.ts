import { expect } from 'chai';
import { DestinationChoice } from '../../../../src/proxy/forward/destination-choice.ts';
import type { Upstream, Upstreams } from '../../../../src/proxy/upstream/upstreams.ts';
import { seededRandom } from '../../../support/random.ts';

const ids = ['a', 'b', 'c'];
const upstreams = { get: (id: string) => ({ id, available: true }) as Upstream } as Upstreams;
const cookie = { name: 'pin', path: '/', ttlSeconds: 60 };
const choiceOf = (weights: readonly number[]): DestinationChoice =>
  new DestinationChoice(ids.slice(0, weights.length), weights, 'WEIGHTED_CONSISTENT_HASH', cookie as never);

function sharesOf(weights: readonly number[], pick: (choice: DestinationChoice, n: number) => Upstream | undefined) {
  const choice = choiceOf(weights);
  const counts = weights.map(() => 0);
  for (let n = 0; n < 100_000; n++) {
    const at = ids.indexOf(pick(choice, n)?.id ?? '');
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts.map((count) => count / 1000);
}

describe('weights of destinations', () => {
  for (const weights of [
    [1, 1, 1],
    [1, 999],
    [0, 1],
    [1_000_000, 1_000_000],
    [60, 40],
  ]) {
    const total = weights.reduce((sum, weight) => sum + weight, 0);

    it(`${weights.join(':')} shares 100,000 requests out within one point`, () => {
      const random = seededRandom(7);
      const shares = sharesOf(weights, (choice) => choice.byWeight(upstreams, random));
      for (const [at, weight] of weights.entries()) expect(shares[at]).to.be.closeTo((100 * weight) / total, 1);
    });

    it(`${weights.join(':')} shares 100,000 sessions out within three points`, () => {
      const shares = sharesOf(weights, (choice, n) => choice.bySession(upstreams, `session-${n}`, 'r'));
      for (const [at, weight] of weights.entries()) {
        expect(shares[at]).to.be.closeTo((100 * weight) / total, 3);
        if (weight === 0) expect(shares[at]).to.equal(0);
      }
    });
  }

  it('a million a destination make a ring of no more nodes than a hundred do', () => {
    const [large, small] = [choiceOf([1_000_000, 1_000_000]), choiceOf([50, 50])];
    const sessions = Array.from({ length: 1000 }, (_, n) => `s${n}`);
    const moved = sessions.filter(
      (session) => large.bySession(upstreams, session, 'r')?.id !== small.bySession(upstreams, session, 'r')?.id,
    );
    expect(moved).to.deep.equal([]);
  });
});
