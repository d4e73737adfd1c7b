// Distribution of picks over the endpoints that serve.
import { expect } from 'chai';
import fc from 'fast-check';
import type { Balancer } from '../../../../../src/proxy/upstream/balance/balancer.ts';
import { crc32 } from '../../../../../src/proxy/upstream/balance/crc32.ts';
import { built } from '../../../../../src/proxy/upstream/balance/hash-ring.ts';
import { maglevChoice, ringChoice } from '../../../../../src/proxy/upstream/balance/keyed-choice.ts';
import { LeastRequest } from '../../../../../src/proxy/upstream/balance/least-request.ts';
import { RandomChoice } from '../../../../../src/proxy/upstream/balance/random-choice.ts';
import { RoundRobin } from '../../../../../src/proxy/upstream/balance/round-robin.ts';
import type { ServingSet } from '../../../../../src/proxy/upstream/balance/serving-set.ts';
import { seededRandom } from '../../../../support/random.ts';
import { names, servingSet } from './serving.ts';

const picksMade = 100_000;

/** Share of the picks that each endpoint gets, in percent. */
function shares(balancer: Balancer, set: ServingSet): number[] {
  const counts = set.endpoints.map(() => 0);
  for (let i = 0; i < picksMade; i++) {
    set.refresh();
    const place = balancer.pick(set, crc32(`key-${i}`));
    counts[place] = (counts[place] ?? 0) + 1;
  }
  return counts.map((count) => (100 * count) / picksMade);
}

const algorithms: readonly [name: string, make: (set: ServingSet) => Balancer][] = [
  ['ROUND_ROBIN', () => new RoundRobin()],
  ['RANDOM', () => new RandomChoice(seededRandom(1))],
  ['RING_HASH', (set) => built(ringChoice(set.endpoints, 262_144))],
  ['MAGLEV', (set) => built(maglevChoice(set.endpoints, 65_537))],
];

describe('balancing', () => {
  for (const [name, make] of algorithms) {
    it(`${name}: picks are spread by weight, also when some do not serve`, () => {
      const weights = [5, 1, 10, 4, 20];
      const { set, setAvailable } = servingSet(
        names(5),
        weights.map((weight) => ({ weight })),
      );
      const balancer = make(set);
      // The ranges of a ring of CRC-32 sums are as even as such sums are; the other algorithms are exact.
      shares(balancer, set).forEach((share, i) => {
        expect(share, `${i}`).to.be.closeTo((100 * (weights[i] ?? 0)) / 40, name === 'RING_HASH' ? 4 : 1);
      });
      setAvailable(4, false);
      const left = shares(balancer, set);
      expect(left[4]).to.equal(0);
      // Who inherits a hash range is chance; the others share by weight.
      const within = balancer.keyed ? 6 : 1;
      for (const i of [0, 1, 2, 3]) expect(left[i]).to.be.closeTo((100 * (weights[i] ?? 0)) / 20, within);
    });
  }

  it('LEAST_REQUEST: even among equals, draws are distinct, the idle one of two always wins', () => {
    const { set } = servingSet(names(5));
    const balancer = new LeastRequest(2, seededRandom(2));
    for (const share of shares(balancer, set)) expect(share).to.be.closeTo(20, 1);
    const two = servingSet(names(2));
    two.set.endpoints[1]?.state.enter();
    expect(shares(new LeastRequest(2, seededRandom(3)), two.set)).to.deep.equal([100, 0]);
    const all = servingSet(names(4));
    for (const place of [0, 1, 3]) all.set.endpoints[place]?.state.enter();
    expect(shares(new LeastRequest(9, seededRandom(4)), all.set)).to.deep.equal([0, 0, 100, 0]);
  });

  it('ROUND_ROBIN: configured order, and the exact weights in every round', () => {
    const { set } = servingSet(names(3));
    const balancer = new RoundRobin();
    const order = Array.from({ length: 7 }, () => set.refresh() && balancer.pick(set));
    expect(order).to.deep.equal([0, 1, 2, 0, 1, 2, 0]);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 20 }), (weights) => {
        const weighted = servingSet(
          names(weights.length),
          weights.map((weight) => ({ weight })),
        ).set;
        if (weights.every((weight) => weight === weights[0])) return;
        const turns = new RoundRobin();
        const total = weights.reduce((a, b) => a + b);
        for (let round = 0; round < 2; round++) {
          const counts = weights.map(() => 0);
          for (let i = 0; i < total; i++) {
            weighted.refresh();
            const place = turns.pick(weighted);
            counts[place] = (counts[place] ?? 0) + 1;
          }
          expect(counts).to.deep.equal(weights);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('only the lowest priority with an available endpoint serves', () => {
    const { set, setAvailable } = servingSet(names(4), [{ priority: 1 }, {}, { priority: 1 }, { priority: 7 }]);
    const serving = (): number[] => [...set.places.subarray(0, set.refresh())];
    expect(serving()).to.deep.equal([1]);
    setAvailable(1, false);
    expect(serving()).to.deep.equal([0, 2]);
    setAvailable(0, false);
    setAvailable(2, false);
    expect(serving()).to.deep.equal([3]);
    setAvailable(3, false);
    expect(serving()).to.deep.equal([]);
    setAvailable(1, true);
    expect(serving()).to.deep.equal([1]);
  });

  for (const [name, make] of algorithms.filter(([, each]) => each(servingSet(names(1)).set).keyed)) {
    it(`${name}: taking one of 100 endpoints out of the list moves hardly more keys than it must`, () => {
      const before = servingSet(names(100)).set;
      const after = servingSet(names(100).filter((_, i) => i !== 42)).set;
      before.refresh();
      after.refresh();
      const [full, less] = [make(before), make(after)];
      const moved = { must: 0, more: 0 };
      for (let i = 0; i < picksMade; i++) {
        const key = crc32(`key-${i}`);
        const was = before.endpoints[full.pick(before, key)]?.name;
        const is = after.endpoints[less.pick(after, key)]?.name;
        if (was === before.endpoints[42]?.name) moved.must++;
        else if (was !== is) moved.more++;
      }
      expect((100 * moved.must) / picksMade).to.be.closeTo(1, 0.5);
      expect((100 * moved.more) / picksMade).to.be.below(2);
    });
  }
});
