import { expect } from 'chai';
import type { Group } from '../../../../src/model/group.ts';
import type { Middleware } from '../../../../src/model/middleware.ts';
import type { Route } from '../../../../src/model/route.ts';
import { decideLink } from '../../../../src/proxy/compile/chain.ts';
import type { RankedEntry } from '../../../../src/proxy/match/route-entry.ts';
import { type Sent, TestRequest } from '../../../support/routed-request.ts';
import { aGroup, aRoute, compiled } from '../../../support/routing.ts';

const middlewares: readonly Middleware[] = ['a', 'b', 'c'].map((id) => ({ id, name: id, type: 'headers' }));

/** contract.md §6.7: the entry of one route in one group. */
function entryOf(ofGroup: Partial<Group>, ofRoute: Partial<Route>): RankedEntry {
  const routes = [aRoute('r', {}, ofRoute)];
  const entry = compiled({ routes, groups: [aGroup('g', ['r'], ofGroup)], middlewares }).table?.entries[0];
  if (entry === undefined) throw new Error('refused');
  return entry;
}

const idsOf = ({ chain }: RankedEntry): string[] => chain.map(({ id }) => id);

describe('the middlewares of an entry', () => {
  it('are those of the group, then those of the route, each where it stands first', () => {
    const entry = entryOf({ middlewareIds: ['b', 'a'] }, { middlewareIds: ['c', 'a', 'b'] });
    expect(idsOf(entry)).to.deep.equal(['b', 'a', 'c']);
    expect(entry.closed).to.equal(undefined);
  });

  it('cover redirects and direct responses too', () => {
    const directResponse = { status: 200 };
    expect(idsOf(entryOf({ middlewareIds: ['a'] }, { directResponse }))).to.deep.equal(['a']);
    expect(idsOf(entryOf({}, { middlewareIds: ['a'], redirect: { path: '/x' } }))).to.deep.equal(['a']);
  });

  const ofGroup = { a: { disabled: true }, b: { skipWhen: ['true'] } };

  it('take the override of the route, else that of the group, else none', () => {
    const entry = entryOf(
      { middlewareIds: ['a', 'b', 'c'], middlewareOverrides: ofGroup },
      { middlewareOverrides: { a: {} } },
    );
    const shown = entry.chain.map(({ overriddenBy, disabled, skipWhen }) => [overriddenBy, disabled, skipWhen.length]);
    expect(shown).to.deep.equal([
      ['route', false, 0],
      ['group', false, 1],
      [undefined, false, 0],
    ]);
  });

  it('take no inherited name for an override', () => {
    const odd: Middleware = { id: 'constructor', name: 'odd', type: 'headers' };
    const routes = [aRoute('r', {}, { middlewareIds: ['constructor'], middlewareOverrides: {} })];
    const [entry] = compiled({ routes, middlewares: [odd] }).table?.entries ?? [];
    expect(entry?.chain[0]?.overriddenBy).to.equal(undefined);
  });

  const path = (prefix: string): string => `request.path.startsWith("${prefix}")`;
  const decisions: readonly (readonly [row: string, override: object, sent: Sent, expected: object])[] = [
    ['without conditions', {}, {}, { run: true, why: 'always' }],
    ['disabled, whatever else it says', { disabled: true, onlyWhen: ['true'] }, {}, { run: false, why: 'disabled' }],
    [
      'skipWhen: any is true',
      { skipWhen: ['false', path('/a')] },
      { target: '/a' },
      { run: false, why: 'skipWhen', expression: path('/a') },
    ],
    ['skipWhen: none is true', { skipWhen: [path('/a')] }, { target: '/b' }, { run: true, why: 'always' }],
    [
      'skipWhen: an error does not skip',
      { skipWhen: ['request.headers["x"] != "1"'] },
      {},
      { run: true, why: 'always' },
    ],
    ['onlyWhen: one is true', { onlyWhen: ['false', path('/a')] }, { target: '/a' }, { run: true, why: 'onlyWhen' }],
    ['onlyWhen: none is true', { onlyWhen: [path('/a')] }, { target: '/b' }, { run: false, why: 'onlyWhen' }],
    [
      'onlyWhen: an error runs it',
      { onlyWhen: ['false', 'request.headers["x"] == "1"'] },
      {},
      { run: true, why: 'onlyWhen' },
    ],
  ];
  for (const [row, override, sent, expected] of decisions) {
    it(`run or not: ${row}`, () => {
      const [link] = entryOf({}, { middlewareIds: ['a'], middlewareOverrides: { a: override } }).chain;
      if (link === undefined) throw new Error('no link');
      expect(decideLink(link, new TestRequest(sent).view)).to.deep.equal(expected);
    });
  }

  it('see what an earlier one changed', () => {
    const override = { skipWhen: ['request.headers["x-done"] == "1"'] };
    const [link] = entryOf({}, { middlewareIds: ['a'], middlewareOverrides: { a: override } }).chain;
    const headers: Record<string, string> = {};
    const request = new TestRequest();
    const { view } = request;
    view.facts = { ...facts(request), header: (name) => headers[name], headers: () => Object.entries(headers) };
    if (link === undefined) throw new Error('no link');
    expect(decideLink(link, view).run).to.equal(true);
    headers['x-done'] = '1';
    view.forgetHeaders();
    expect(decideLink(link, view).run).to.equal(false);
  });
});

const facts = ({ id, method, path, host, scheme, clientIp, query }: TestRequest) => ({
  id,
  method,
  path,
  host,
  scheme,
  clientIp,
  query,
});
