import { expect } from 'chai';
import type { Match, Redirect } from '../../../../src/model/route.ts';
import { type RedirectAnswer, redirectAnswer } from '../../../../src/proxy/action/redirect.ts';
import { type Sent, TestRequest } from '../../../support/routed-request.ts';
import { aGroup, aRoute, compiled, type Routing, tableOf } from '../../../support/routing.ts';

const routed = (match: Match, redirect: Redirect): Routing => ({ routes: [aRoute('r', match, { redirect })] });

function answer(routing: Routing, sent: Sent): RedirectAnswer {
  const request = new TestRequest(sent);
  const entry = tableOf(routing).match(request);
  if (entry?.action?.kind !== 'redirect') throw new Error('not redirected');
  return redirectAnswer(entry.action.redirect, entry.path, request);
}

const locationOf = (match: Match, redirect: Redirect, sent: Sent): string =>
  answer(routed(match, redirect), sent).location;

const old: Match = { pathPrefix: '/old' };
const there: Sent = { target: '/old/a?q=1', authority: 'shop.test:8080' };

const rows: readonly (readonly [row: string, match: Match, redirect: Redirect, sent: Sent, location: string])[] = [
  [
    'url: verbatim, all else ignored',
    old,
    { url: 'https://x.test/%zz?a', scheme: 'http', host: 'y.test', path: '/z', stripQuery: true },
    there,
    'https://x.test/%zz?a',
  ],
  ['scheme: a changed one drops the port', old, { scheme: 'https' }, there, 'https://shop.test/old/a?q=1'],
  [
    'scheme: a bare IPv6 address has no port',
    old,
    { scheme: 'https' },
    { target: '/old', authority: '::80' },
    'https://::80/old',
  ],
  ['port: set', old, { port: 8443, scheme: 'https' }, there, 'https://shop.test:8443/old/a?q=1'],
  ['port: alone', old, { port: 81 }, there, 'http://shop.test:81/old/a?q=1'],
  ['port: that of the scheme is left out', old, { port: 443, scheme: 'https' }, there, 'https://shop.test/old/a?q=1'],
  ['port: before that of host', old, { port: 82, host: 'b.test:81' }, there, 'http://b.test:82/old/a?q=1'],
  ['port: behind an IPv6 address', old, { port: 82 }, { target: '/old', authority: '[::1]:80' }, 'http://[::1]:82/old'],
  ['pathMode: prefix keeps the rest behind / too', old, { path: '/', pathMode: 'prefix' }, there, '/a?q=1'],
  ['pathMode: prefix of the whole path', old, { path: '/', pathMode: 'prefix' }, { target: '/old' }, '/'],
  ['pathMode: full replaces all', old, { path: '/new', pathMode: 'full' }, there, '/new?q=1'],
  [
    'scheme: the old default port goes',
    old,
    { scheme: 'https' },
    { target: '/old', authority: 'a.test:80' },
    'https://a.test/old',
  ],
  [
    'scheme: the old default port goes, from https',
    old,
    { scheme: 'http' },
    { target: '/old', authority: 'a.test:443', scheme: 'https' },
    'http://a.test/old',
  ],
  [
    'scheme: the same one keeps the authority',
    old,
    { scheme: 'http' },
    { target: '/old', authority: 'a.test:80' },
    'http://a.test:80/old',
  ],
  [
    'scheme: an IPv6 address is no port',
    old,
    { scheme: 'https' },
    { target: '/old', authority: '[::80]:80' },
    'https://[::80]/old',
  ],
  ['host: replaces the whole authority', old, { host: 'b.test' }, there, 'http://b.test/old/a?q=1'],
  ['host: its own port', old, { host: 'b.test:81', scheme: 'https' }, there, 'https://b.test:81/old/a?q=1'],
  ['path: / is / whatever the path', old, { path: '/' }, there, '/?q=1'],
  ['path: a prefix keeps the rest', old, { path: '/new' }, there, '/new/a?q=1'],
  ['path: nothing to match by is a prefix', {}, { path: '/new' }, there, '/new/old/a?q=1'],
  ['path: exact takes the override alone', { path: '/old/a' }, { path: '/new' }, there, '/new?q=1'],
  ['path: regex takes the override alone', { pathRegex: '/old' }, { path: '/new' }, there, '/new?q=1'],
  ['path: none keeps the path', old, { stripQuery: true }, there, '/old/a'],
  ['query: kept though it is empty', old, { path: '/new' }, { target: '/old/a?' }, '/new/a?'],
  ['query: stripped', old, { path: '/new', stripQuery: true }, there, '/new/a'],
  ['query: of the configuration before that of the request', old, { path: '/new?k=1' }, there, '/new/a?k=1&q=1'],
  ['query: of the configuration alone', old, { path: '/new?k=ü', stripQuery: true }, there, '/new/a?k=%C3%BC'],
  ['path: beyond ASCII is escaped', old, { path: '/größe/日' }, there, '/gr%C3%B6%C3%9Fe/%E6%97%A5/a?q=1'],
  [
    'url: as it was written',
    {},
    { url: 'https://b.test/%7e/../a b?q=%#/x' },
    there,
    'https://b.test/%7e/../a%20b?q=%#/x',
  ],
  ['url: beyond ASCII is escaped', {}, { url: '/größe?日=1#é' }, there, '/gr%C3%B6%C3%9Fe?%E6%97%A5=1#%C3%A9'],
  [
    'url: a host beyond ASCII is written as DNS knows it',
    {},
    { url: 'https://u@bücher.example:8443/日' },
    there,
    'https://u@xn--bcher-kva.example:8443/%E6%97%A5',
  ],
  ['form: relative without scheme and host', old, { path: 'new' }, there, '/new/a?q=1'],
  ['host: none was named', old, { scheme: 'https' }, { target: '/old/a', authority: '' }, '/old/a'],
  [
    'order: scheme, host and path together',
    old,
    { scheme: 'https', host: 'b.test', path: '/new' },
    there,
    'https://b.test/new/a?q=1',
  ],
];

describe('a redirect', () => {
  for (const [row, match, redirect, sent, location] of rows) {
    it(`follows the row ${row}`, () => {
      expect(locationOf(match, redirect, sent)).to.equal(location);
    });
  }

  for (const code of [301, 302, 303, 307, 308] as const) {
    it(`answers ${code} when told so, with a url too`, () => {
      expect(answer(routed({}, { path: '/x', code }), {}).status).to.equal(code);
      expect(answer(routed({}, { url: 'https://x.test', code }), {}).status).to.equal(code);
    });
  }

  it('answers 301 when not told otherwise', () => {
    expect(answer(routed({}, { path: '/x' }), {}).status).to.equal(301);
    expect(answer(routed({}, { path: '/x', code: 0 }), {}).status).to.equal(301);
  });

  for (const [part, path, location] of [
    ['prefix', { pathPrefix: '/a' }, '/new/b'],
    ['empty', {}, '/new/a/b'],
    ['exact', { path: '/a/b' }, '/new'],
    ['regex', { pathRegex: '/a' }, '/new'],
  ] as const) {
    it(`goes by the route's part of a composed entry: ${part}`, () => {
      const routing = { ...routed(path, { path: '/new' }), groups: [aGroup('g', ['r'], { pathRegex: '/v[0-9]' })] };
      expect(answer(routing, { target: '/v1/a/b' }).location).to.equal(location);
    });
  }

  describe('stays where it is for any path of the client', () => {
    const hostile = [
      '//evil.test/x',
      '///evil.test',
      '/\\evil.test',
      '/%5Cevil.test',
      '/./\\evil.test',
      '/..//evil.test',
    ];
    for (const target of hostile) {
      for (const pathNormalization of ['enforce', 'report'] as const) {
        it(`${pathNormalization}: ${target}`, () => {
          const redirects: Redirect[] = [{ stripQuery: true }, { path: '/new' }, { path: '/new/' }];
          for (const redirect of redirects) {
            const location = locationOf({}, redirect, { target, pathNormalization });
            expect(location).to.match(/^\/(?![/\\])/);
            expect(new URL(location, 'http://shop.test').host).to.equal('shop.test');
          }
        });
      }
    }

    it('when a prefix that was cut off leaves two slashes', () => {
      const sent: Sent = { target: '/old//evil.test', pathNormalization: 'report' };
      for (const path of ['/', '//', '/x/..', '\\']) {
        const location = locationOf(old, { path }, sent);
        expect(new URL(location, 'http://shop.test').host, location).to.equal('shop.test');
      }
    });

    it('and holds no control character', () => {
      const sent: Sent = { target: '/old/\r\nSet-Cookie: a=b\0\u{1f600}?\r\nX: 1', pathNormalization: 'report' };
      expect(locationOf(old, { path: '/new' }, sent)).to.match(/^[\x21-\x7e]+$/);
      expect(locationOf(old, { path: '/a\r\nb' }, { target: '/old' })).to.equal('/a%0D%0Ab');
    });

    it('or is refused when the control character is configured', () => {
      for (const redirect of [{ url: 'https://x.test/\r\nX: 1' }, { host: 'x.test\r\nX: 1' }]) {
        const { table, problems } = compiled(routed({}, redirect));
        expect(problems.map(({ pointer }) => pointer)).to.deep.equal([
          `/routes/r/redirect/${Object.keys(redirect)[0]}`,
        ]);
        expect(table?.entries[0]?.closed).to.equal('middleware_unavailable');
      }
    });
  });
});

describe('a direct response', () => {
  for (const [row, status, body, type] of [
    ['a JSON object', 200, '{"a":1}', 'application/json'],
    ['a JSON array', 200, ' []', 'application/json'],
    ['a JSON text that is neither', 200, '"a"', 'text/plain; charset=utf-8'],
    ['markup after blanks', 200, ' \n<p>', 'text/html; charset=utf-8'],
    ['anything else', 503, 'down', 'text/plain; charset=utf-8'],
    ['nothing', 200, undefined, undefined],
    ['204', 204, 'x', undefined],
    ['205', 205, 'x', undefined],
    ['304', 304, '{}', undefined],
  ] as const) {
    it(`follows the row ${row}`, () => {
      const directResponse = body === undefined ? { status } : { status, body };
      const action = tableOf({ routes: [aRoute('r', {}, { directResponse })] }).entries[0]?.action;
      if (action?.kind !== 'directResponse') throw new Error('no direct response');
      expect(action.answer).to.deep.include({ status, body: type === undefined ? '' : body, contentType: type });
    });
  }
});
