import { expect } from 'chai';
import { Arrivals } from '../../../src/cluster/arrivals.ts';
import type { Adopted, Committed } from '../../../src/cluster/log-port.ts';

const entries = (first: number, last: number): Committed => ({
  type: 'committed',
  first,
  last,
  term: 1,
  logTime: 0,
  entries: [],
});
const checkpoint = (index: number): Adopted => ({ type: 'adopt', generation: 2, index });

describe('what the log hands over', () => {
  it('is taken in as it came', () => {
    const arrivals = new Arrivals();
    for (const message of [entries(1, 2), entries(3, 3), checkpoint(9)]) arrivals.add(message);
    expect(arrivals.next(0)).to.deep.equal(entries(1, 2));
    expect(arrivals.next(2)).to.deep.equal(entries(3, 3));
    expect(arrivals.next(3)).to.deep.equal(checkpoint(9));
    expect(arrivals.next(9)).to.equal(undefined);
  });

  it('waits behind a gap for the checkpoint that fills it', () => {
    const arrivals = new Arrivals();
    arrivals.add(entries(6, 7));
    expect(arrivals.next(2)).to.equal(undefined);
    arrivals.add(checkpoint(5));
    expect(arrivals.next(2)).to.deep.equal(checkpoint(5));
    expect(arrivals.next(5)).to.deep.equal(entries(6, 7));
  });

  it('is what was known already too: apply passes over it', () => {
    const arrivals = new Arrivals();
    arrivals.add(entries(2, 4));
    expect(arrivals.next(6)).to.deep.equal(entries(2, 4));
  });
});
