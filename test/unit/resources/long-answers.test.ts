import { expect } from 'chai';
import fc from 'fast-check';
import { inPieces, jsonArray, longJsonArray } from '../../../src/resources/answer.ts';

describe('a long answer', () => {
  it('is the text of a short one, in pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 8 }), { maxLength: 50 }), fc.nat({ max: 4_000 }), (some, count) => {
        const items = Array.from({ length: count }, (_, at) => JSON.stringify(`${some[at % some.length] ?? ''}${at}`));
        const body = longJsonArray(items);
        expect([...body].join('')).to.equal(jsonArray(items));
        if (count < 2_000) expect(body).to.be.a('string');
      }),
      { numRuns: 30 },
    );
  });

  it('is made as far as it is taken', () => {
    let made = 0;
    function* texts(): Generator<string> {
      for (; made < 100_000; made++) yield 'x'.repeat(100);
    }
    const pieces = inPieces(100_000, texts())[Symbol.iterator]();
    expect(pieces.next().value).to.have.length.within(64 * 1024, 65 * 1024);
    expect(made).to.be.below(700);
  });
});
