import { expect } from 'chai';
import type { Group } from '../../../../src/model/group.ts';
import type { Match } from '../../../../src/model/route.ts';
import { aGroup, aRoute, tableOf, winner } from '../../../support/routing.ts';

type GroupPart = Pick<Group, 'pathPrefix' | 'pathRegex'>;

const paths = (group: GroupPart | undefined, match: Match) =>
  tableOf({ routes: [aRoute('r', match)], groups: group ? [aGroup('g', ['r'], group)] : [] });

/** contract.md §6.2 with architecture.md §6.7 and §6.8. */
const rows: readonly {
  readonly row: string;
  readonly group?: GroupPart;
  readonly match: Match;
  readonly type: 'exact' | 'prefix' | 'regex';
  readonly matches: readonly string[];
  readonly not: readonly string[];
}[] = [
  {
    row: '1: prefix and prefix',
    group: { pathPrefix: '/api/v1' },
    match: { pathPrefix: '/products' },
    type: 'prefix',
    matches: ['/api/v1/products', '/api/v1/products/', '/api/v1/products/7'],
    not: ['/products', '/api/v1/productsX', '/api/v1', '/api/v1//..'],
  },
  {
    row: '1: prefix and prefix, joined without a slash',
    group: { pathPrefix: '/api/v' },
    match: { pathPrefix: '2/x/' },
    type: 'prefix',
    matches: ['/api/v2/x', '/api/v2/x/y'],
    not: ['/api/v/2/x', '/api/v2'],
  },
  {
    row: '2: prefix and path',
    group: { pathPrefix: '/api' },
    match: { path: '/health' },
    type: 'exact',
    matches: ['/api/health', '/api//health', '/x/../api/health'],
    not: ['/api/health/', '/api/health/x', '/health'],
  },
  {
    row: '3: prefix and regex',
    group: { pathPrefix: '/a.b' },
    match: { pathRegex: '^/x|/y' },
    type: 'regex',
    matches: ['/a.b/x', '/a.b/y', '/a.b/yz'],
    not: ['/aXb/x', '/y', '/x/a.b/x'],
  },
  {
    row: '4: prefix alone',
    group: { pathPrefix: '/api/' },
    match: {},
    type: 'prefix',
    matches: ['/api', '/api/', '/api/x'],
    not: ['/apix', '/'],
  },
  {
    row: '5: regex and prefix',
    group: { pathRegex: '/(en|es)' },
    match: { pathPrefix: '/products' },
    type: 'regex',
    matches: ['/es/products', '/es/products/1', '/en/products/'],
    not: ['/fr/products', '/x/es/products', '/es/productsX'],
  },
  {
    row: '5: regex and prefix with a trailing slash and a point',
    group: { pathRegex: '^/(?:en|es)' },
    match: { pathPrefix: '/a.b/' },
    type: 'regex',
    matches: ['/en/a.b', '/en/a.b/', '/es/a.b/c'],
    not: ['/en/aXb', '/en/a.bc'],
  },
  {
    row: '6: regex and regex',
    group: { pathRegex: '/en|/es' },
    match: { pathRegex: '^/[0-9]+' },
    type: 'regex',
    matches: ['/en/1', '/es/22/x'],
    not: ['/en', '/en/a', '/x/en/1'],
  },
  {
    row: '7: regex and path',
    group: { pathRegex: '/(en|es)' },
    match: { path: '/health' },
    type: 'regex',
    matches: ['/en/health'],
    not: ['/en/health/x', '/en/health/', '/fr/health'],
  },
  {
    row: '8: regex alone',
    group: { pathRegex: '/v[0-9]' },
    match: {},
    type: 'regex',
    matches: ['/v1', '/v2/x', '/v1x'],
    not: ['/v', '/x/v1'],
  },
  {
    row: 'no group: path',
    match: { path: '/a b' },
    type: 'exact',
    matches: ['/a%20b', '/%61%20b'],
    not: ['/a%2520b', '/a', '/a%20b/'],
  },
  {
    row: 'no group: prefix',
    match: { pathPrefix: '/é' },
    type: 'prefix',
    matches: ['/%C3%A9', '/%c3%a9/x'],
    not: ['/%C3', '/e'],
  },
  {
    row: 'no group: regex',
    match: { pathRegex: '/users/[0-9]+' },
    type: 'regex',
    matches: ['/users/42', '/users/42/orders'],
    not: ['/users/abc', '/x/users/1'],
  },
  {
    row: 'no group: alternatives stay anchored',
    match: { pathRegex: '^/a|/b' },
    type: 'regex',
    matches: ['/a', '/b'],
    not: ['/x/b'],
  },
  ...(['^*/a', '^+/a', '^?/a', '^{2}/a'] as const).map((pathRegex) => ({
    row: `no group: regex that repeats its anchor, ${pathRegex}`,
    match: { pathRegex },
    type: 'regex' as const,
    matches: ['/a', '/ab'],
    not: ['/x/a'],
  })),
  {
    row: '3: prefix and regex that repeats its anchor',
    group: { pathPrefix: '/g' },
    match: { pathRegex: '^*/a' },
    type: 'regex',
    matches: ['/g/a'],
    not: ['/a', '/x/g/a'],
  },
  {
    row: '8: regex that repeats its anchor, alone',
    group: { pathRegex: '^*/a' },
    match: {},
    type: 'regex',
    matches: ['/a/b'],
    not: ['/x/a'],
  },
  { row: 'no group: nothing', match: {}, type: 'prefix', matches: ['/', '/a', '/a/b?c'], not: ['*'] },
];

describe('the path of an entry', () => {
  for (const { row, group, match, type, matches, not } of rows) {
    it(`is composed as in row ${row}`, () => {
      const table = paths(group, match);
      expect(table.entries[0]?.path.type).to.equal(type);
      for (const target of matches) expect(winner(table, { target }), target).to.equal('r');
      for (const target of not) expect(winner(table, { target }), target).to.equal(undefined);
    });
  }

  it('never takes an encoded slash for a separator', () => {
    const table = paths(undefined, { pathPrefix: '/api/x' });
    expect(winner(table, { target: '/api%2Fx' })).to.equal(undefined);
    expect(winner(table, { target: '/api%5Cx' })).to.equal(undefined);
    expect(winner(table, { target: '/api\\x' })).to.equal(undefined);
  });

  it('is matched as it was sent where a listener only reports', () => {
    const table = paths(undefined, { pathPrefix: '/api' });
    const sent = (target: string) => winner(table, { target, pathNormalization: 'report' });
    expect([sent('/api/../x'), sent('//api'), sent('/%61pi')]).to.deep.equal(['r', undefined, undefined]);
  });
});
