import { expect } from 'chai';
import { mergeSorted, slicedSort } from '../../../src/util/sliced-sort.ts';
import { seededRandom } from '../../support/random.ts';

const count = 50_000;
const ascending = Array.from({ length: count }, (_, at) => at);

/** Comparisons of the longest step, and the result. */
function measured<T>(make: (compare: (a: number, b: number) => number) => Generator<void, T>) {
  let comparisons = 0;
  let most = 0;
  const steps = make((a, b) => {
    comparisons += 1;
    return a - b;
  });
  for (;;) {
    comparisons = 0;
    const { done, value } = steps.next();
    most = Math.max(most, comparisons);
    if (done) return { most, value };
  }
}

describe('a sliced sort', () => {
  it('sorts as a sort does, and keeps the order of equal items', () => {
    const random = seededRandom(7);
    const items = ascending.map((at) => ({ key: Math.floor(random() * 1_000), at }));
    const steps = slicedSort(items, (a, b) => a.key - b.key);
    let step = steps.next();
    while (!step.done) step = steps.next();
    expect(step.value).to.deep.equal(items.toSorted((a, b) => a.key - b.key || a.at - b.at));
  });

  it('pauses after some thousand comparisons, in whichever order the items come', () => {
    const random = seededRandom(8);
    const shuffled = ascending.map((at) => ({ at, key: random() })).sort((a, b) => a.key - b.key);
    for (const items of [ascending, ascending.toReversed(), shuffled.map(({ at }) => at)]) {
      const { most, value } = measured((compare) => slicedSort(items, compare));
      expect(value).to.deep.equal(ascending);
      expect(most).to.be.below(12_000);
    }
  });

  it('pauses while one list comes before all of the other', () => {
    const [low, high] = [ascending, ascending.map((at) => at + count)];
    for (const [first, second] of [
      [low, high],
      [high, low],
    ] as const) {
      const { most, value } = measured((compare) => mergeSorted(first, second, compare));
      expect(value).to.deep.equal([...low, ...high]);
      expect(most).to.be.below(1_100);
    }
  });
});
