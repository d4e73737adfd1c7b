import { expect } from 'chai';
import fc from 'fast-check';
import { ShardedMap } from '../../../src/util/sharded-map.ts';

describe('sharded map', () => {
  it('holds the same entries as a Map, for keys of any form', () => {
    const key = fc.oneof(fc.constantFrom('', 'a', 'ab', 'ba', 'é', '\u{1f600}'), fc.string({ maxLength: 4 }));
    const change = fc.tuple(key, fc.option(fc.nat()));
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        const [wide, plain] = [new ShardedMap<number>(), new Map<string, number>()];
        for (const [name, value] of changes) {
          for (const map of [wide, plain]) value === null ? map.delete(name) : map.set(name, value);
          for (const [known] of changes) expect(wide.get(known)).to.equal(plain.get(known));
        }
        expect([...wide.values()].sort()).to.deep.equal([...plain.values()].sort());
      }),
    );
  });
});
