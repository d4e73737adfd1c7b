import { expect } from 'chai';
import { canonicalPath } from '../../../../src/model/canonical-path.ts';
import { upstreamTarget } from '../../../../src/proxy/action/target-rewrite.ts';
import { freePort } from '../../../support/free-port.ts';
import { ProxyBed, rawExchange } from '../../../support/proxy-bed.ts';
import { TestRequest } from '../../../support/routed-request.ts';
import { aRoute, tableOf } from '../../../support/routing.ts';

/** Ways to write /admin/x. */
const admin = [
  '/admin/x',
  '//admin/x',
  '/admin//x',
  '///admin///x',
  '/./admin/x',
  '/admin/./x',
  '/a/../admin/x',
  '/a/b/../../admin/x',
  '/../admin/x',
  '/../../../../admin/x',
  '/admin/y/../x',
  '/%61dmin/x',
  '/%61%64%6d%69%6E/x',
  '/%2e/admin/x',
  '/a/%2e%2e/admin/x',
  '/a/%2E./admin/x',
  '/a/.%2e/admin/x',
  '/a//../admin/x',
  '/admin/%78',
];

/** Ways to write what looks like it and is another path: none may be taken for /admin by anyone. */
const other: readonly (readonly [sent: string, canonical: string])[] = [
  ['/admin%2Fx', '/admin%2Fx'],
  ['/%2fadmin/x', '/%2Fadmin/x'],
  ['/a/..%2fadmin/x', '/a/..%2Fadmin/x'],
  ['/a/..%5cadmin/x', '/a/..%5Cadmin/x'],
  ['/a/..\\admin/x', '/a/..%5Cadmin/x'],
  ['/\\admin/x', '/%5Cadmin/x'],
  ['/admin;x', '/admin;x'],
  ['/admin;/x', '/admin;/x'],
  ['/;/admin/x', '/;/admin/x'],
  ['/..;/admin/x', '/..;/admin/x'],
  ['/%2561dmin/x', '/%2561dmin/x'],
  ['/%252e%252e/admin/x', '/%252e%252e/admin/x'],
  ['/%c0%afadmin/x', '/%C0%AFadmin/x'],
  ['/%c0%ae%c0%ae/admin/x', '/%C0%AE%C0%AE/admin/x'],
  ['/%e0%80%ae/admin/x', '/%E0%80%AE/admin/x'],
  ['/%ef%bc%8fadmin/x', '/%EF%BC%8Fadmin/x'],
  ['/ADMIN/x', '/ADMIN/x'],
  ['/adminx', '/adminx'],
  ['/admin/../x', '/x'],
  ['/admin/%2e%2e', '/'],
  ['/admin%20/x', '/admin%20/x'],
  ['/.admin/x', '/.admin/x'],
];

/** Paths without a canonical form; the answer is 400. */
const refused = ['/admin%00', '/%00/admin', '/admin%', '/admin%2', '/admin%zz', '/admin/\x01', '/admin\x7f', '/\xe9'];

const rule = '!(request.path == "/admin" || request.path.startsWith("/admin/"))';

describe('spellings of a path', () => {
  // The first route protects /admin, the second lets everything through that its rule does not take for /admin.
  const table = tableOf({ routes: [aRoute('admin', { pathPrefix: '/admin' }), aRoute('open', { cel: rule })] });

  const decided = (target: string) => {
    const request = new TestRequest({ target });
    const entry = table.match(request);
    return { winner: entry?.route.name, upstream: entry && upstreamTarget(undefined, entry.path, request) };
  };

  for (const sent of admin) {
    it(`are all /admin/x: ${sent}`, () => {
      expect(decided(sent)).to.deep.equal({ winner: 'admin', upstream: '/admin/x' });
    });
  }

  for (const [sent, canonical] of other) {
    it(`are another path to the route, the rule and the upstream alike: ${sent}`, () => {
      expect(decided(sent)).to.deep.equal({ winner: 'open', upstream: canonical });
    });
  }

  for (const sent of refused) {
    it(`have no meaning: ${JSON.stringify(sent)}`, () => {
      expect(canonicalPath(sent)).to.equal(undefined);
    });
  }

  it('have one canonical form, which is its own', () => {
    for (const sent of [...admin, ...other.map(([each]) => each)]) {
      const canonical = canonicalPath(sent) ?? '';
      expect(canonicalPath(canonical), sent).to.equal(canonical);
    }
  });
});

describe('the proxy under test', () => {
  const bed = new ProxyBed();
  const seen: string[] = [];
  let port: number;
  before(async () => {
    const upstream = await bed.upstream((request, response) => {
      seen.push(request.url ?? '');
      response.end(request.url?.startsWith('/admin') ? 'admin' : 'open');
    });
    port = await freePort();
    await bed.install({
      listeners: [{ id: 'l', name: 'l', port }],
      destinations: [{ id: 'd', name: 'd', host: '127.0.0.1', port: upstream }],
      routes: [
        aRoute('admin', { pathPrefix: '/admin' }, { directResponse: { status: 403 } }),
        aRoute('open', { cel: rule }),
        aRoute('inner', { hostnames: ['inner.test'], path: '/host' }, { directResponse: { status: 204 } }),
        aRoute('v6', { hostnames: ['[::1]'], path: '/v6' }, { directResponse: { status: 204 } }),
      ],
    });
  });
  after(() => bed.end());

  const statusOf = async (target: string, host = 'shop.test'): Promise<string> =>
    (await rawExchange(port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).slice(9, 12);

  it('refuses every spelling of /admin, in absolute form too', async () => {
    for (const target of [...admin, ...admin.map((each) => `http://shop.test${each}`)]) {
      expect(await statusOf(target), target).to.equal('403');
    }
  });

  it('sends the canonical form of every other path to the upstream', async () => {
    for (const [target, canonical] of other) {
      seen.length = 0;
      expect([await statusOf(target), ...seen], target).to.deep.equal(['200', canonical]);
    }
  });

  it('answers 400 to what has no canonical form', async () => {
    for (const target of refused) expect(await statusOf(target), JSON.stringify(target)).to.equal('400');
  });

  it('knows an IPv6 host by its address, with and without a port', async () => {
    expect(await statusOf('/v6', '[::1]')).to.equal('204');
    expect(await statusOf('/v6', '[::1]:8080')).to.equal('204');
  });

  it('knows a host by one name, with and without a point at its end', async () => {
    for (const host of ['inner.test', 'Inner.test.', 'inner.test.:8080']) {
      expect(await statusOf('/host', host), host).to.equal('204');
    }
  });
});
