import { expect } from 'chai';
import fc from 'fast-check';
import { splitBody } from '../../../src/resources/batch/batch-body.ts';
import { drain } from '../../../src/util/time-slice.ts';

const split = (text: string, most = 1_000) => drain(splitBody(Buffer.from(text), most));

describe('body of a batch', () => {
  it('is cut into the operations that JSON.parse finds, with any fields around them', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue(), { maxLength: 5 }),
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.nat(2),
        (operations, around, indent) => {
          const { operations: _, ...rest } = around;
          const body = { ...rest, operations, after: '"operations": [' };
          const cut = split(JSON.stringify(body, null, indent));
          expect(cut.operations?.map((one) => JSON.parse(one.toString()))).to.deep.equal(
            JSON.parse(JSON.stringify(operations)),
          );
          expect(JSON.parse(cut.head.toString())).to.deep.equal(
            JSON.parse(JSON.stringify({ ...body, operations: [] })),
          );
        },
      ),
      { numRuns: 300, seed: 14 },
    );
  });

  it('finds the operations however their name is written, and nothing of that name further down', () => {
    expect(split('{"operat\\u0069ons":[1]}').operations).to.have.lengthOf(1);
    expect(split('{"a":{"operations":[1]},"b":["operations"]}').operations).to.equal(undefined);
  });

  it('is not valid where JSON.parse would say so', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:1 \\a') }), (noise) => {
        const text = `{"operations":[${noise}]}`;
        const isValid = (() => {
          try {
            JSON.parse(text);
            return true;
          } catch {
            return false;
          }
        })();
        const isCut = (() => {
          try {
            const { head, operations = [] } = split(text);
            JSON.parse(head.toString());
            for (const one of operations) JSON.parse(one.toString());
            return true;
          } catch {
            return false;
          }
        })();
        if (isCut) expect(isValid, text).to.equal(true);
        else if (isValid) expect(text).to.match(/"operations".*"operations"/);
      }),
      { numRuns: 1_000, seed: 14 },
    );
  });
});
