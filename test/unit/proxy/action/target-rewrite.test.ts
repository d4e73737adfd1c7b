import { expect } from 'chai';
import type { Rewrite } from '../../../../src/model/rewrite.ts';
import type { Match } from '../../../../src/model/route.ts';
import { upstreamHost, upstreamTarget } from '../../../../src/proxy/action/target-rewrite.ts';
import { type Sent, TestRequest } from '../../../support/routed-request.ts';
import { aGroup, aRoute, type Routing, tableOf } from '../../../support/routing.ts';

const routed = (match: Match, rewrite: Rewrite): Routing => ({
  routes: [aRoute('r', match, { forward: { destinations: [{ destinationId: 'd' }], rewrite } })],
});

/** Target and host that the upstream sees. */
function upstream(routing: Routing, sent: Sent): { target: string; host: string } {
  const request = new TestRequest(sent);
  const entry = tableOf(routing).match(request);
  if (entry?.action?.kind !== 'forward') throw new Error('not forwarded');
  const { rewrite } = entry.action.plan;
  return {
    target: upstreamTarget(rewrite, entry.path, request),
    host: upstreamHost(rewrite, request, 'catalog.internal'),
  };
}

const targetOf = (match: Match, rewrite: Rewrite, target: string): string =>
  upstream(routed(match, rewrite), { target }).target;

const users = { pattern: '/users/([0-9]+)/orders/([0-9]+)', substitution: '/v2/orders/\\2?user=\\1' };
const api: Match = { pathPrefix: '/api/v1' };

const rows: readonly (readonly [row: string, match: Match, rewrite: Rewrite, sent: string, upstream: string])[] = [
  ['design 1: prefix and rest', api, { path: '/internal' }, '/api/v1/users', '/internal/users'],
  ['an empty query stays one', {}, {}, '/a?', '/a?'],
  ['an empty query stays one behind another path', api, { path: '/internal' }, '/api/v1/users?', '/internal/users?'],
  ['an empty query adds nothing to a made one', {}, { pathRegex: users }, '/users/4/orders/9?', '/v2/orders/9?user=4'],
  ['design 2: prefix alone', api, { path: '/internal' }, '/api/v1', '/internal'],
  ['design 3: strip the prefix', api, { path: '/' }, '/api/v1/users', '/users'],
  ['design 4: strip all there is', api, { path: '/' }, '/api/v1', '/'],
  ['design 5: groups into the query', {}, { pathRegex: users }, '/users/4/orders/9', '/v2/orders/9?user=4'],
  [
    'design 6: version and rest',
    {},
    { pathRegex: { pattern: '^/api/(v[0-9]+)/(.*)', substitution: '/\\2' } },
    '/api/v7/a/b',
    '/a/b',
  ],
  ['1: the query is kept', api, { path: '/internal' }, '/api/v1/users?x=1', '/internal/users?x=1'],
  ['5: the root prefix', { pathPrefix: '/' }, { path: '/base' }, '/a', '/base/a'],
  ['5: the root prefix and the root', { pathPrefix: '/' }, { path: '/base' }, '/', '/base'],
  ['6: two queries', {}, { pathRegex: users }, '/users/4/orders/9?z=1', '/v2/orders/9?user=4&z=1'],
  [
    '7: dollar groups',
    {},
    { pathRegex: { pattern: '^/api/v2(.*)', substitution: '/internal$1' } },
    '/api/v2/orders',
    '/internal/orders',
  ],
  ['exact: the whole path', { path: '/a/b' }, { path: '/c' }, '/a/b?q', '/c?q'],
  ['regex: what matched from the start', { pathRegex: '/v[0-9]+' }, { path: '/new' }, '/v12/x', '/new/x'],
  ['regex: a slash is put where one was', { pathRegex: '/v[0-9]+/' }, { path: '/new' }, '/v12/x', '/new/x'],
  ['joint: one slash of two', api, { path: '/internal/' }, '/api/v1/users', '/internal/users'],
  ['joint: a trailing slash stays', api, { path: '/internal' }, '/api/v1/', '/internal/'],
  ['joint: a prefix with a trailing slash', { pathPrefix: '/api/' }, { path: '/x' }, '/api/users', '/x/users'],
  ['result without a slash', api, { path: 'internal' }, '/api/v1/users', '/internal/users'],
  ['all matches', {}, { pathRegex: { pattern: 'a', substitution: 'b' } }, '/a/a', '/b/b'],
  ['result without a slash by regex', {}, { pathRegex: { pattern: '^/x', substitution: 'y' } }, '/x/z', '/y/z'],
  ['segments never leave the root', {}, { pathRegex: { pattern: '^/x', substitution: '/..' } }, '/x/etc', '/etc'],
  ['a new path is escaped', api, { path: '/a b/ü/日' }, '/api/v1/x', '/a%20b/%C3%BC/%E6%97%A5/x'],
  ['a new query goes before the old one', api, { path: '/in?k=1' }, '/api/v1/x?y=2', '/in/x?k=1&y=2'],
  ['a new query stands alone', api, { path: 'in?k=ü b' }, '/api/v1/x', '/in/x?k=%C3%BC%20b'],
  ['a new query that is empty', api, { path: '/in?' }, '/api/v1/x?y=2', '/in/x?y=2'],
  ['a fragment of former days is escaped', api, { path: '/a#b?c#' }, '/api/v1/x', '/a%23b/x?c%23'],
  ['no rewrite: the canonical form', {}, {}, '/a/./b//c/%7e?%7e', '/a/b/c/~?%7e'],
];

describe('a rewrite', () => {
  for (const [row, match, rewrite, sent, expected] of rows) {
    it(`follows the row ${row}`, () => {
      expect(targetOf(match, rewrite, sent)).to.equal(expected);
    });
  }

  it('replaces the composed part of a group and its route', () => {
    const routes = routed({ pathPrefix: '/users' }, { path: '/u' }).routes;
    const target = (group: object) =>
      upstream({ routes, groups: [aGroup('g', ['r'], group)] }, { target: '/api/users/7' }).target;
    expect(target({ pathPrefix: '/api' })).to.equal('/u/7');
    expect(target({ pathRegex: '/[a-z]+' })).to.equal('/u/7');
  });

  it('puts no control byte of a substitution into the request line', () => {
    const pathRegex = { pattern: '^/x', substitution: '/a\r\nX: 1?b\r\n#c' };
    expect(targetOf({}, { pathRegex }, '/x')).to.equal('/a%0D%0AX:%201?b%0D%0A%23c');
  });

  it('leaves what expressions and logs see as it was', () => {
    const request = new TestRequest({ target: '/api/v1/users' });
    const entry = tableOf(routed(api, { path: '/internal', host: 'other.test' })).match(request);
    expect(entry).to.be.an('object');
    expect([request.path, request.view.facts.path, request.authority]).to.deep.equal([
      '/api/v1/users',
      '/api/v1/users',
      'shop.test',
    ]);
  });

  const hosts: readonly (readonly [row: string, rewrite: Rewrite, headers: Record<string, string>, host: string])[] = [
    ['none: the host of the client with its port', {}, {}, 'shop.test:8080'],
    ['host', { host: 'a.test:81' }, {}, 'a.test:81'],
    ['hostFromHeader', { hostFromHeader: 'X-Host' }, { 'x-host': 'b.test' }, 'b.test'],
    ['hostFromHeader, absent', { hostFromHeader: 'x-host' }, {}, 'shop.test:8080'],
    ['hostFromHeader, empty', { hostFromHeader: 'x-host' }, { 'x-host': '' }, 'shop.test:8080'],
    ['hostFromHeader, no host', { hostFromHeader: 'x-host' }, { 'x-host': 'a b' }, 'shop.test:8080'],
    ['hostFromHeader, a path', { hostFromHeader: 'x-host' }, { 'x-host': 'a/../b' }, 'shop.test:8080'],
    ...[
      'a..b',
      '-a.test',
      '999.1.1.1',
      'a.test:0',
      'a.test:99999',
      'a.test:',
      'a,b',
      'a$b',
      'a%20b',
      '[::1',
      '[::g]',
    ].map(
      (sent) =>
        [`hostFromHeader, ${sent}`, { hostFromHeader: 'x-host' }, { 'x-host': sent }, 'shop.test:8080'] as const,
    ),
    ['hostFromHeader, an address', { hostFromHeader: 'x-host' }, { 'x-host': '[::1]:81' }, '[::1]:81'],
    ['autoHost', { autoHost: true }, {}, 'catalog.internal'],
    ['autoHost: false', { autoHost: false }, {}, 'shop.test:8080'],
  ];
  for (const [row, rewrite, headers, host] of hosts) {
    it(`follows the row ${row}`, () => {
      expect(upstream(routed({}, rewrite), { authority: 'shop.test:8080', headers }).host).to.equal(host);
    });
  }

  it('may change path and host at once', () => {
    const both = upstream(routed(api, { path: '/x', host: 'h.test' }), { target: '/api/v1/y' });
    expect(both).to.deep.equal({ target: '/x/y', host: 'h.test' });
  });
});
