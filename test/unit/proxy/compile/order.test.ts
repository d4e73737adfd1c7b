import { expect } from 'chai';
import type { Match } from '../../../../src/model/route.ts';
import type { ForwardPlan } from '../../../../src/proxy/forward/forward-plan.ts';
import type { RankedEntry } from '../../../../src/proxy/match/route-entry.ts';
import type { Sent } from '../../../support/routed-request.ts';
import { aGroup, aRoute, type Routing, tableOf, winner } from '../../../support/routing.ts';

/** Agrees with every pair below. */
const sent: Sent = {
  target: '/a/b/c?q=1&p=1',
  authority: 'x.test',
  headers: { 'content-type': 'application/grpc', 'x-a': '1' },
};

/** contract.md §6.4: two routes that differ in one key and, against it, in the key after it and in their names. */
const keys: readonly (readonly [key: string, first: Match, second: Match])[] = [
  ['1: an exact path before a prefix', { path: '/a/b/c' }, { pathPrefix: '/a/b/c', headers: [{ name: 'x-a' }] }],
  ['1: a prefix before a regex', { pathPrefix: '/' }, { pathRegex: '/a/b/c', headers: [{ name: 'x-a' }] }],
  ['2: the longer prefix', { pathPrefix: '/a/b' }, { pathPrefix: '/a', headers: [{ name: 'x-a' }] }],
  ['3: more headers', { headers: [{ name: 'x-a' }] }, { hostnames: ['x.test'] }],
  [
    '4: exact hosts before a suffix',
    { hostnames: ['x.test'] },
    { hostnames: ['x.test', '*.test'], queryParams: [{ name: 'q' }] },
  ],
  ['4: a suffix before any host', { hostnames: ['*.test'] }, { hostnames: ['*'], queryParams: [{ name: 'q' }] }],
  [
    '4: * is any host, whatever stands beside it',
    { hostnames: ['*.test'] },
    { hostnames: ['x.test', '*'], methods: ['GET'] },
  ],
  ['5: more query parameters', { queryParams: [{ name: 'q' }] }, { methods: ['GET'] }],
  ['6: methods restricted', { methods: ['GET'] }, { methods: [], grpc: true }],
  ['7: grpc', { grpc: true }, { cel: 'true' }],
  ['8: cel', { cel: 'true' }, {}],
];

const winnerOf = (routing: Routing): string | undefined => winner(tableOf(routing), sent);

describe('the order of entries', () => {
  for (const [key, first, second] of keys) {
    it(`follows key ${key}`, () => {
      // By name the other one would come first.
      const routes = [aRoute('z', first), aRoute('a', second)];
      expect(winnerOf({ routes })).to.equal('z');
      expect(winnerOf({ routes: routes.toReversed() })).to.equal('z');
    });
  }

  it('does not ask key 2 of exact paths and regexes', () => {
    const match = (pathRegex: string) => ({ pathRegex });
    expect(winnerOf({ routes: [aRoute('b', match('/a/b/c')), aRoute('a', match('/a'))] })).to.equal('a');
  });

  it('counts bytes of the composed prefix for key 2, the group’s part included', () => {
    const routes = [aRoute('z', { pathPrefix: '/b' }), aRoute('a', { pathPrefix: '/a' })];
    expect(winnerOf({ routes, groups: [aGroup('g', ['z'], { pathPrefix: '/a' })] })).to.equal('z');
  });

  it('counts the headers of group and route together for key 3', () => {
    const routes = [aRoute('z'), aRoute('a', { hostnames: ['x.test'] })];
    expect(winnerOf({ routes, groups: [aGroup('g', ['z'], { headers: [{ name: 'x-a' }] })] })).to.equal('z');
  });

  it('follows key 9: entries of groups before others', () => {
    expect(winnerOf({ routes: [aRoute('z'), aRoute('a')], groups: [aGroup('g', ['z'])] })).to.equal('z');
  });

  it('follows key 10: the group’s name by bytes', () => {
    const routes = [aRoute('a'), aRoute('z')];
    const groups = [aGroup('b', ['a']), aGroup('B', ['z'])];
    expect(winnerOf({ routes, groups })).to.equal('z');
    expect(winnerOf({ routes, groups: [aGroup('\u{1f600}', ['a']), aGroup('\uff5e', ['z'])] })).to.equal('z');
  });

  it('follows key 11: the position in routeIds', () => {
    expect(winnerOf({ routes: [aRoute('a'), aRoute('z')], groups: [aGroup('g', ['z', 'a'])] })).to.equal('z');
  });

  it('follows key 12: the name of the route, then its id', () => {
    const routes = [aRoute('b', {}, { id: '1' }), aRoute('a', {}, { id: '3' }), aRoute('a', {}, { id: '2' })];
    expect(tableOf({ routes }).entries.map(({ route }) => route.id)).to.deep.equal(['2', '3', '1']);
  });

  it('ranks a composed regex as a regex although the route’s part is exact', () => {
    const routes = [aRoute('z', { pathPrefix: '/' }), aRoute('a', { path: '/c' })];
    expect(winnerOf({ routes, groups: [aGroup('g', ['a'], { pathRegex: '/a/b' })] })).to.equal('z');
  });
});

describe('fan-out', () => {
  const retry = { attempts: 3 };

  it('makes one entry for each group and route pair and one for a route alone', () => {
    const { entries } = tableOf({
      routes: [aRoute('a'), aRoute('b'), aRoute('c')],
      groups: [aGroup('g', ['a', 'gone', 'b', 'a']), aGroup('h', ['a'])],
    });
    const names = entries.map(({ group, route }) => `${group?.name ?? ''}/${route.name}`);
    expect(names).to.have.members(['g/a', 'g/b', 'h/a', '/c']);
  });

  it('gives each pair what its group adds', () => {
    const { entries } = tableOf({
      routes: [aRoute('a', { pathPrefix: '/a' })],
      groups: [
        aGroup('g', ['a'], { pathPrefix: '/g', retryDefault: retry, includeAttemptCount: true }),
        aGroup('h', ['a'], { pathPrefix: '/h' }),
      ],
    });
    const shown = entries.map(({ path, action }) => {
      const { retry, attemptCount } = planOf(action);
      return [path.text, retry?.attempts, attemptCount];
    });
    expect(shown).to.deep.equal([
      ['/g/a', 3, true],
      ['/h/a', undefined, false],
    ]);
  });

  it('takes the retry of the route before that of its group, even one without attempts', () => {
    const forward = { destinations: [{ destinationId: 'd' }], retry: { attempts: 0 } };
    const { entries } = tableOf({
      routes: [aRoute('a', {}, { forward }), aRoute('b', {}, { forward: { ...forward, retry: { attempts: 2 } } })],
      groups: [aGroup('g', ['a', 'b'], { retryDefault: retry })],
    });
    expect(entries.map(({ action }) => planOf(action).retry?.attempts)).to.deep.equal([undefined, 2]);
  });
});

function planOf(action: RankedEntry['action']): ForwardPlan {
  if (action?.kind !== 'forward') throw new Error('not a forward');
  return action.plan;
}
