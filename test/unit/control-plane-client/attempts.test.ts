import { expect } from 'chai';
import { Attempts } from '../../../src/control-plane-client/attempts.ts';

describe('the order in which control planes are asked', () => {
  it('is one url after the same wait, for ever, when there is one', () => {
    const attempts = new Attempts(['a'], 5_000, () => 0.9);
    expect(attempts.first()).to.deep.equal({ url: 'a', delayMs: 0 });
    for (const servedMs of [0, 60_000, 0]) expect(attempts.next(servedMs)).to.deep.equal({ url: 'a', delayMs: 5_000 });
  });

  it('begins anywhere, goes on at once, and waits 4 to 6 s after a round without success', () => {
    const attempts = new Attempts(['a', 'b', 'c'], 5_000, () => 0.5);
    expect(attempts.first()).to.deep.equal({ url: 'b', delayMs: 0 });
    const next = [0, 0, 0, 0, 0, 0].map(() => attempts.next(0));
    expect(next.map(({ url }) => url)).to.deep.equal(['c', 'a', 'b', 'c', 'a', 'b']);
    expect(next.map(({ delayMs }) => delayMs)).to.deep.equal([0, 0, 5_000, 0, 0, 5_000]);
    const waits = [0, 0.999].map((chance) => {
      const extreme = new Attempts(['a', 'b'], 5_000, () => chance);
      return [extreme.next(0), extreme.next(0)].at(-1)?.delayMs ?? 0;
    });
    expect(waits[0]).to.be.closeTo(4_000, 1);
    expect(waits[1]).to.be.closeTo(6_000, 5);
  });

  it('begins a new round when a stream that had served ends', () => {
    const attempts = new Attempts(['a', 'b'], 5_000, () => 0.5);
    attempts.next(0);
    expect(attempts.next(60_000).delayMs).to.equal(0);
    expect(attempts.next(10).delayMs).to.equal(5_000);
  });
});
