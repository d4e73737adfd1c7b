import { expect } from 'chai';
import { ApplyQueue } from '../../../../src/cluster/log/apply-queue.ts';
import type { Adopted, Committed } from '../../../../src/cluster/log/log-port.ts';

const entries = (first: number, last: number): Committed => ({
  type: 'committed',
  batch: { first, last, term: 1, logTime: 0, entries: [], bytes: 0 },
});
const checkpoint = (index: number): Adopted => ({ type: 'adopt', generation: 2, index });

describe('what the log hands over', () => {
  it('is taken in as it came', () => {
    const queue = new ApplyQueue();
    for (const message of [entries(1, 2), entries(3, 3), checkpoint(9)]) queue.add(message);
    expect(queue.next(0)).to.deep.equal(entries(1, 2));
    expect(queue.next(2)).to.deep.equal(entries(3, 3));
    expect(queue.next(3)).to.deep.equal(checkpoint(9));
    expect(queue.next(9)).to.equal(undefined);
  });

  it('waits behind a gap for the checkpoint that fills it', () => {
    const queue = new ApplyQueue();
    queue.add(entries(6, 7));
    expect(queue.next(2)).to.equal(undefined);
    queue.add(checkpoint(5));
    expect(queue.next(2)).to.deep.equal(checkpoint(5));
    expect(queue.next(5)).to.deep.equal(entries(6, 7));
  });

  it('is what was known already too: apply passes over it', () => {
    const queue = new ApplyQueue();
    queue.add(entries(2, 4));
    expect(queue.next(6)).to.deep.equal(entries(2, 4));
  });
});
