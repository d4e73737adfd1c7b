import { expect } from 'chai';
import { checkRevisionOrder } from '../../../../raft/testing/history/revision-order.ts';
import { searchOrder } from '../../../../raft/testing/history/search.ts';
import { good, secretlyBad, visiblyBad, wrote } from './histories.ts';

describe('checker of histories by their indexes', () => {
  for (const [name, { operations, log }] of Object.entries(good))
    it(`accepts ${name}`, () => expect(checkRevisionOrder(operations, log)).to.deep.equal([]));

  for (const [name, { operations, log }] of Object.entries({ ...visiblyBad, ...secretlyBad }))
    it(`finds ${name}`, () => expect(checkRevisionOrder(operations, log)).to.not.deep.equal([]));
});

describe('checker of histories by search', () => {
  for (const [name, { operations }] of Object.entries(good))
    it(`finds an order for ${name}`, () => expect(searchOrder(operations)).to.equal('linearizable'));

  for (const [name, { operations }] of Object.entries(visiblyBad))
    it(`finds none for ${name}`, () => expect(searchOrder(operations)).to.equal('not linearizable'));

  it('does not call proven what it gave up', () => {
    const many = Array.from({ length: 201 }, (_, at) => wrote(at + 1, [0, 1_000], at + 1));
    expect(searchOrder(many)).to.equal('not proven');
    const few = [...many.slice(0, 12), { ...wrote(300, [2_000, 2_001], 13), kind: 'read' as const, value: 999 }];
    expect(searchOrder(few, 50)).to.equal('not proven');
  });
});
