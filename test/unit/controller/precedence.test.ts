import { expect } from 'chai';
import { commonHostnames, hostRank } from '../../../src/controller/graph/hostnames.ts';
import { pathRank, priorityOf, routeName } from '../../../src/controller/translate/precedence.ts';

const plain = { host: 0, path: 0, hasMethod: false, headers: 0, queryParams: 0 };

describe('precedence of matches', () => {
  it('has host, path, method, headers and query in this order', () => {
    const ranks = [
      { ...plain, host: hostRank('a.example'), path: pathRank('PathPrefix', '/') },
      { ...plain, host: hostRank('*.b.example'), path: pathRank('Exact', '/x') },
      { ...plain, host: hostRank('*.example'), path: pathRank('Exact', '/x'), hasMethod: true },
      { ...plain, host: hostRank('*.example'), path: pathRank('Exact', '/x'), headers: 16, queryParams: 16 },
      { ...plain, path: pathRank('PathPrefix', '/abc'), headers: 16 },
      { ...plain, path: pathRank('PathPrefix', '/ab'), hasMethod: true, headers: 16 },
      { ...plain, path: pathRank('PathPrefix', '/ab'), headers: 2 },
      { ...plain, path: pathRank('PathPrefix', '/ab'), headers: 1, queryParams: 16 },
      { ...plain, path: pathRank('RegularExpression', '/.*'), queryParams: 16 },
    ].map(priorityOf);
    expect(ranks).to.deep.equal([...ranks].sort((a, b) => b - a));
    expect(new Set(ranks).size).to.equal(ranks.length);
    expect(ranks[0]).to.be.below(2 ** 32);
  });

  it('orders equal matches by age, name, rule and match', () => {
    const route = (creationTimestamp: string, name: string) => ({
      metadata: { namespace: 'shop', name, creationTimestamp },
    });
    const names = [
      routeName(route('2026-01-01T00:00:00Z', 'b'), 0, 0),
      routeName(route('2026-01-02T00:00:00Z', 'a'), 0, 2),
      routeName(route('2026-01-02T00:00:00Z', 'a'), 0, 10),
      routeName(route('2026-01-02T00:00:00Z', 'a'), 1, 0),
      routeName(route('2026-01-02T00:00:00Z', 'c'), 0, 0),
    ];
    expect(names).to.deep.equal([...names].sort());
  });

  it('counts a slash at the end of a prefix for nothing', () => {
    expect(pathRank('PathPrefix', '/a/')).to.equal(pathRank('PathPrefix', '/a'));
    expect(pathRank('PathPrefix', '/')).to.be.above(pathRank('RegularExpression', '/'));
  });
});

describe('host names of listener and route', () => {
  for (const [listener, route, common] of [
    [undefined, undefined, []],
    [undefined, ['a.example'], ['a.example']],
    ['*.example', undefined, ['*.example']],
    ['*.example', ['a.example', 'b.c.example', 'example', 'a.test'], ['a.example', 'b.c.example']],
    ['a.example', ['*.example'], ['a.example']],
    ['*.a.example', ['*.example'], ['*.a.example']],
    ['*.example', ['*.a.example'], ['*.a.example']],
    ['a.example', ['b.example'], undefined],
  ] as const)
    it(`${listener} and ${route} have ${common === undefined ? 'nothing' : `[${common}]`} in common`, () => {
      expect(commonHostnames(listener, route)?.map(({ name }) => name)).to.deep.equal(common);
    });
});
