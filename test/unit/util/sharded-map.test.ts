import { expect } from 'chai';
import fc from 'fast-check';
import { shardCount, shardOf } from '../../../src/util/shard.ts';
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

  it('fills its shards unevenly with keys that are counted up, so that few grow at once', () => {
    const shards = Array.from({ length: shardCount }, () => 0);
    for (let at = 0; at < 100_000; at++) {
      const shard = shardOf(`r${String(at).padStart(6, '0')}`);
      shards[shard] = (shards[shard] ?? 0) + 1;
    }
    const alike = Map.groupBy(shards, (keys) => keys);
    expect(Math.max(...Array.from(alike.values(), ({ length }) => length))).to.be.at.most(shardCount / 6);
    expect(Math.max(...shards)).to.be.below(2_500);
  });
});
