import { expect } from 'chai';
import fc from 'fast-check';
import { withSharedParts } from '../../../src/kubernetes/shared-fields.ts';

describe('shared parts of two versions of an object', () => {
  it('are those that are the same, down to the deepest level', () => {
    const before = {
      metadata: { name: 'a', labels: { x: '1' }, resourceVersion: '1' },
      spec: { rules: [{ a: 1 }, { b: 2 }] },
    };
    const after = structuredClone(before);
    after.metadata.resourceVersion = '2';
    after.spec.rules[1] = { b: 3 } as never;
    const shared = withSharedParts(before, after);
    expect(shared).to.deep.equal(after);
    expect(shared.metadata.labels).to.equal(before.metadata.labels);
    expect(shared.spec.rules[0]).to.equal(before.spec.rules[0]);
    expect(withSharedParts(before, structuredClone(before))).to.equal(before);
  });

  it('leave the value as it is, with any former one', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (before, after) => {
        expect(withSharedParts(before, after)).to.deep.equal(after);
        expect(withSharedParts(after, structuredClone(after))).to.deep.equal(after);
      }),
    );
  });
});
