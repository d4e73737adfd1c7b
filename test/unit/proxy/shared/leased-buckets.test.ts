import { expect } from 'chai';
import { LeasedBuckets, rowStates } from '../../../../src/proxy/shared/leased-buckets.ts';

describe('leased buckets', () => {
  const rate = { requestsPerSecond: 10, burst: 100 };
  let asked: (readonly [row: number, tokens: number, name: string | undefined])[];
  let buckets: LeasedBuckets;

  beforeEach(() => {
    asked = [];
    buckets = new LeasedBuckets(LeasedBuckets.memory(8), rate, 1, (...question) => asked.push(question));
  });

  const wish = (name: string, cost = 1, isForced = false): number =>
    buckets.wish(buckets.keyOf(name), cost, name, isForced);
  const take = (name: string, cost = 1): boolean => buckets.takeSome(buckets.keyOf(name), cost, 0);

  it('hold nothing until main fills a row, and ask once', () => {
    expect(take('a')).to.equal(false);
    const row = wish('a');
    expect([wish('a'), wish('a')]).to.deep.equal([row, row]);
    expect(asked).to.deep.equal([[row, 1, 'a']]);
    wish('a', 2, true);
    expect(asked.at(-1)).to.deep.equal([row, 2, 'a']);
    buckets.fill(row, 2, 10);
    expect([take('a'), take('a'), take('a')]).to.deep.equal([true, true, false]);
    expect(buckets.takeUsed(row)).to.equal(2);
  });

  it('ask for more when few tokens are left, and for nothing while the row is dry', () => {
    const row = wish('a');
    buckets.fill(row, 4, 10);
    buckets.note(row, 2, 90);
    buckets.setState(row, rowStates.open);
    asked = [];
    for (let request = 0; request < 4; request++) take('a');
    expect(asked).to.deep.equal([[row, 0, undefined]]);
    buckets.setState(row, rowStates.dry);
    expect(wish('a')).to.equal(-1);
    expect(asked).to.have.length(1);
  });

  it('let keys that have no place share one row', () => {
    const rows = Array.from({ length: 20 }, (_, key) => wish(`key ${key}`));
    expect(new Set(rows.slice(0, 8)).size).to.equal(8);
    expect(new Set(rows.slice(8))).to.deep.equal(new Set([0]));
    expect(asked.at(-1)).to.deep.equal([0, 1, 'overflow']);
    buckets.fill(0, 1, 1);
    const passes = Array.from({ length: 12 }, (_, key) => take(`key ${8 + key}`));
    expect(passes.filter((isPassed) => isPassed)).to.have.length(1);
  });

  it('find a key behind a place that was freed', () => {
    const [first, second] = [wish('a'), wish('b')];
    buckets.fill(second, 1, 1);
    expect(buckets.close(first), 'asked').to.equal(false);
    buckets.setState(first, rowStates.open);
    expect(buckets.close(first)).to.equal(true);
    buckets.free(first);
    expect(take('b')).to.equal(true);
    expect(wish('b')).to.equal(second);
  });

  it('wait for a cost above the burst for ever, and for others by the rate of the whole limit', () => {
    const key = buckets.keyOf('a');
    expect([buckets.waitMs(key, 101, 0), buckets.waitMs(key, 5, 0)]).to.deep.equal([Number.POSITIVE_INFINITY, 500]);
    expect(wish('a', 101)).to.equal(-1);
  });

  it('count in units that a large burst does not overflow', () => {
    const large = new LeasedBuckets(LeasedBuckets.memory(8), { requestsPerSecond: 1e9, burst: 4e9 }, 1);
    const row = large.wish(large.keyOf('a'), 1, 'a', false);
    large.fill(row, 4e9, 4e9);
    expect(large.level(row)).to.equal(2 ** 30);
    expect(large.takeSome(large.keyOf('a'), 1, 0)).to.equal(true);
    expect(large.level(row)).to.equal(2 ** 30 - 1);
  });
});
