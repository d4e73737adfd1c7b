import { expect } from 'chai';
import fc from 'fast-check';
import { edited, editsBetween, type ListEdit } from '../../../src/model/list-edits.ts';
import { drain } from '../../../src/util/time-slice.ts';

interface Item {
  readonly id: string;
  readonly text?: string;
}

/** Ids and which of a few objects stands for each: the same id and number is the same object. */
const objects = new Map<string, Item>();
const itemOf = ([id, version]: readonly [string, number]): Item => {
  const key = `${id}#${version}`;
  const known = objects.get(key) ?? { id, text: String(version) };
  objects.set(key, known);
  return known;
};

const list = fc
  .array(fc.tuple(fc.constantFrom(...'abcdefghij'), fc.nat(2)), { maxLength: 12 })
  .map((pairs) => pairs.map(itemOf));
const ascending = list.map((items) =>
  [...new Map(items.map((item) => [item.id, item])).values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
);

const applied = (former: readonly Item[], edits: readonly ListEdit<Item>[]): Item[] =>
  drain(
    edited(
      former,
      edits.map(({ at, removed, inserted }) => ({ at, removed: removed.length, inserted })),
    ),
  );

describe('edits between two lists', () => {
  it('make the second of the first, for lists in any order', () => {
    fc.assert(
      fc.property(list, list, (former, next) => {
        const result = applied(former, drain(editsBetween(former, next)));
        expect(result).to.have.lengthOf(next.length);
        for (const [at, item] of result.entries()) expect(item).to.equal(next[at]);
      }),
    );
  });

  it('name what is not in both, and nothing else, where lists ascend', () => {
    fc.assert(
      fc.property(ascending, ascending, (former, next) => {
        const edits = drain(editsBetween(former, next));
        expect(edits.flatMap(({ removed }) => removed)).to.have.members(former.filter((one) => !next.includes(one)));
        expect(edits.flatMap(({ inserted }) => inserted)).to.have.members(next.filter((one) => !former.includes(one)));
      }),
    );
  });

  it('leave objects alone that are said to be the same', () => {
    fc.assert(
      fc.property(ascending, ascending, (former, next) => {
        const copies = next.map((item) => ({ ...item }));
        const isSame = (one: Item, other: Item): boolean => one.text === other.text;
        const result = applied(former, drain(editsBetween(former, copies, isSame)));
        expect(result).to.deep.equal(copies);
        for (const item of next) if (former.includes(item)) expect(result).to.include(item);
      }),
    );
  });
});
