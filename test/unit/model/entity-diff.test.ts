import { expect } from 'chai';
import { differenceOf, pairsOf } from '../../../src/model/entity-diff.ts';
import type { EditableKind } from '../../../src/model/kinds.ts';
import { drain } from '../../../src/util/time-slice.ts';

const version = (id: string, fields: object = {}) => ({ id, name: id, spec: { id, name: id, ...fields } });

/** Changes of one entity between two sets of fields. */
const changes = (before: object, after: object, kind: EditableKind = 'routes') => {
  const pairs = pairsOf(kind, [version('a', before)], [version('a', after)]);
  return drain(differenceOf(pairs)).changed[0]?.changes;
};

describe('the difference of two sets of entities', () => {
  it('pairs lists that ascend by id', () => {
    const from = ['a', 'b', 'd', 'e'].map((id) => version(id));
    const to = [version('0'), from[1], version('c'), version('d', { x: 1 }), version('f')].filter(
      (one) => one !== undefined,
    );
    const { created, changed, deleted } = drain(differenceOf(pairsOf('groups', from, to)));
    expect(created.map(({ id }) => id)).to.deep.equal(['0', 'c', 'f']);
    expect(deleted.map(({ id }) => id)).to.deep.equal(['a', 'e']);
    expect(changed).to.deep.equal([
      { kind: 'groups', id: 'd', name: 'd', changes: [{ pointer: '/x', from: null, to: 1 }] },
    ]);
    expect(drain(differenceOf(pairsOf('groups', [], [])))).to.deep.equal({ created: [], changed: [], deleted: [] });
  });

  it('spares versions that are known to be alike, and does not name those that are', () => {
    const pairs = [...pairsOf('groups', [version('a')], [version('a')], () => true)];
    expect(pairs).to.deep.equal([]);
    expect(changes({ x: { y: [1] } }, { x: { y: [1] } })).to.equal(undefined);
  });

  it('names fields at any depth, added, changed and gone, with their pointers escaped', () => {
    expect(changes({ a: { 'x/y': 1, gone: true } }, { a: { 'x/y': 2, new: {} } })).to.deep.equal([
      { pointer: '/a/x~1y', from: 1, to: 2 },
      { pointer: '/a/gone', from: true, to: null },
      { pointer: '/a/new', from: null, to: {} },
    ]);
  });

  it('compares lists of named objects element by element', () => {
    const list = (...names: readonly [string, number][]) => ({ l: names.map(([name, x]) => ({ name, x })) });
    expect(changes(list(['a', 1], ['b', 1], ['c', 1]), list(['b', 2], ['c', 1], ['d', 1]))).to.deep.equal([
      { pointer: '/l/0', from: { name: 'a', x: 1 }, to: null },
      { pointer: '/l/0/x', from: 1, to: 2 },
      { pointer: '/l/2', from: null, to: { name: 'd', x: 1 } },
    ]);
  });

  it('compares lists as a whole when elements have moved, have no name, or share one', () => {
    const pairs: [from: unknown[], to: unknown[]][] = [
      [
        [{ name: 'a' }, { name: 'b' }],
        [{ name: 'b' }, { name: 'a' }],
      ],
      [[{ x: 1 }], [{ x: 2 }]],
      [
        [
          { name: 'a', x: 1 },
          { name: 'a', x: 2 },
        ],
        [{ name: 'a', x: 2 }],
      ],
      [['GET'], ['GET', 'POST']],
    ];
    for (const [from, to] of pairs)
      expect(changes({ l: from }, { l: to })).to.deep.equal([{ pointer: '/l', from, to }]);
  });

  it('tells endpoints of one host apart by their ports', () => {
    const at = (port: number, weight: number) => ({ host: 'h', port, weight });
    expect(changes({ l: [at(1, 1), at(2, 1)] }, { l: [at(1, 1), at(2, 5)] })).to.deep.equal([
      { pointer: '/l/1/weight', from: 1, to: 5 },
    ]);
  });

  it('masks the values of secrets, and of nothing else', () => {
    const masked = [{ pointer: '/value', from: '***', to: '***' }];
    expect(changes({ value: 'one' }, { value: 'two' }, 'secrets')).to.deep.equal(masked);
    expect(changes({ value: 'one' }, { value: 'two' })).to.deep.equal([{ pointer: '/value', from: 'one', to: 'two' }]);
  });
});
