// Conditions of each rule, one by one: a table on the one side of a condition has the finding, one on the other side has not.
import { expect } from 'chai';
import { findingsOf } from '../../../src/findings/findings.ts';
import { faultlessTable, forwardToShop as forward, routeTo as route } from '../../support/faultless-table.ts';
import { makeCertificate } from '../../support/made-certificates.ts';
import { toldFindings as told } from '../../support/told-findings.ts';

const dayMs = 86_400_000;

const nothing: readonly string[] = [];

const certificate = makeCertificate({ dnsNames: ['shop.test', '*.wild.test'] });
const tls = { cert: certificate.cert, key: certificate.key };
const web = { id: 'web', name: 'web', address: '127.0.0.1', port: 8080 };
const secure = { id: 'tls', name: 'tls', address: '127.0.0.1', port: 8443, tls };
const authz = {
  ...{ id: 'm', name: 'm', type: 'inlineAuthz' },
  inlineAuthz: { rules: [{ cel: 'request.method == "GET"', action: 'allow' }] },
};

describe('unreachable-route', () => {
  const listeners = [
    { ...web, sections: [{ name: 'one', hostnames: ['a.test'] }, { name: 'two' }] },
    { ...web, id: 'other', name: 'other', port: 8081 },
  ];
  const lost = async (earlier: readonly object[], later: object) => {
    const before = earlier.map((more, at) =>
      route(`e${at}`, { pathPrefix: '/x', ...more }, { forward, priority: 1, ...more }),
    );
    const all = await told({
      listeners,
      routes: [...before, route('late', { path: '/x/y', ...later }, { forward, ...later })],
    });
    return all.includes('unreachable-route late /match error');
  };

  it('is told where the earlier routes are on every listener of the route', async () => {
    const on = (...listenerIds: readonly string[]) => ({ listenerIds });
    expect(await lost([on('web')], on('web'))).to.equal(true);
    expect(await lost([on('other')], on('web'))).to.equal(false);
    expect(await lost([{}], on('web'))).to.equal(true);
    expect(await lost([on('web')], {})).to.equal(false);
    expect(await lost([on('web'), on('other')], {})).to.equal(true);
    expect(await lost([on('web')], on('web/one'))).to.equal(true);
    expect(await lost([on('web/one')], on('web'))).to.equal(false);
    expect(await lost([on('web/one')], on('web/two'))).to.equal(false);
    expect(await lost([on('web/one')], on('web/one'))).to.equal(true);
  });

  it('is told where the earlier routes have every host of the route', async () => {
    const of = (...hostnames: readonly string[]) => ({ hostnames });
    expect(await lost([of('*.b.test')], of('c.b.test'))).to.equal(true);
    expect(await lost([of('*.b.test')], of('d.c.b.test'))).to.equal(true);
    expect(await lost([of('*.b.test')], of('*.c.b.test'))).to.equal(true);
    expect(await lost([of('*.b.test')], of('b.test'))).to.equal(false);
    expect(await lost([of('b.test')], of('*.b.test'))).to.equal(false);
    expect(await lost([of('*.b.test')], of('xb.test'))).to.equal(false);
    expect(await lost([of('*')], of('b.test'))).to.equal(true);
    expect(await lost([of('b.test')], of('*'))).to.equal(false);
    expect(await lost([of('b.test')], of('b.test', 'c.test'))).to.equal(false);
    expect(await lost([of('b.test'), of('c.test')], of('b.test', 'c.test'))).to.equal(true);
  });
});

describe('ambiguous-order', () => {
  const two = (one: object, other: object, listeners = [web]) =>
    told({ listeners, routes: [route('a', { pathPrefix: '/x', ...one }), route('b', { pathPrefix: '/x', ...other })] });
  const header = (name: string, value: string) => ({ headers: [{ name, value }] });

  it('is told of two entries of one rank that one request meets, and of no others', async () => {
    expect(await two(header('x-a', '1'), header('x-b', '1'))).to.deep.equal(['ambiguous-order b /match warning']);
    expect(await two(header('x-a', '1'), header('x-a', '2'))).to.deep.equal(nothing);
    expect(await two({ methods: ['GET'] }, { methods: ['POST'] })).to.deep.equal(nothing);
    expect(await two({ scheme: 'http' }, { scheme: 'https' }, [web, secure])).to.deep.equal(nothing);
    expect(await two({ hostnames: ['a.test'] }, { hostnames: ['b.test'] })).to.deep.equal(nothing);
    const params = (value: string) => ({ queryParams: [{ name: 'q', value }] });
    expect(await two(params('1'), params('2'))).to.deep.equal(nothing);
    expect(await two({ priority: 1, ...header('x-a', '1') }, params('2'))).to.deep.equal(nothing);
  });

  it('is told of no entry that another priority decides, or that is bound to another listener', async () => {
    const routes = [
      route('a', { pathPrefix: '/x', ...header('x-a', '1') }, { forward, priority: 1 }),
      route('b', { pathPrefix: '/x', ...header('x-b', '1') }),
    ];
    expect(await told({ routes })).to.deep.equal(nothing);
    const listeners = [web, { ...web, id: 'other', name: 'other', port: 8081 }];
    const bound = [
      route('a', { pathPrefix: '/x', ...header('x-a', '1') }, { forward, listenerIds: ['web'] }),
      route('b', { pathPrefix: '/x', ...header('x-b', '1') }, { forward, listenerIds: ['other'] }),
    ];
    expect(await told({ listeners, routes: bound })).to.deep.equal(nothing);
  });
});

describe('unprotected-sibling', () => {
  const destinations = [{ id: 'api', name: 'api', host: 'api.internal', port: 80 }];
  const to = { destinations: [{ destinationId: 'api' }] };
  const table = (guarded: number, open: number, more: object = {}, middleware: object = authz) =>
    told({
      destinations,
      middlewares: [middleware],
      routes: [
        ...Array.from({ length: guarded }, (_, at) =>
          route(`g${at}`, { path: `/g${at}` }, { forward: to, middlewareIds: ['m'], ...more }),
        ),
        ...Array.from({ length: open }, (_, at) => route(`o${at}`, { path: `/o${at}` }, { forward: to })),
      ],
    });

  it('needs more than half of the routes of a destination, and two at least', async () => {
    const finding = 'unprotected-sibling o0 /middlewareIds warning';
    expect(await table(2, 1)).to.deep.equal([finding]);
    expect(await table(2, 2)).to.deep.equal(nothing);
    expect(await table(1, 0)).to.deep.equal(nothing);
    expect(await table(1, 1)).to.deep.equal(nothing);
    const disabled = { middlewareOverrides: { m: { disabled: true } } };
    expect(await table(2, 1, disabled)).to.deep.equal(nothing);
    const plain = { id: 'm', name: 'm', type: 'headers', headers: {} };
    expect(await table(2, 1, {}, plain)).to.deep.equal(nothing);
    const external = { id: 'm', name: 'm', type: 'extAuthz', extAuthz: { destinationId: 'shop', http: {} } };
    expect(await table(2, 1, {}, external)).to.deep.equal([finding]);
  });

  it('counts certificates of clients where each listener of the route asks for them, and no share of weight 0', async () => {
    const mutual = { ...secure, tls: { ...tls, clientAuth: { mode: 'require', ca: certificate.cert } } };
    const routes = ['a', 'b', 'c'].map((id) =>
      route(id, { path: `/${id}` }, { forward: to, listenerIds: id === 'c' ? ['web'] : ['tls'] }),
    );
    const listeners = [web, mutual];
    expect(await told({ listeners, destinations, routes })).to.deep.equal([
      'unprotected-sibling c /middlewareIds warning',
    ]);
    const optional = { ...mutual, tls: { ...mutual.tls, clientAuth: { mode: 'optional', ca: certificate.cert } } };
    expect(await told({ listeners: [web, optional], destinations, routes })).to.deep.equal(nothing);
    const idle = {
      forward: {
        destinations: [
          { destinationId: 'api', weight: 0 },
          { destinationId: 'shop', weight: 1 },
        ],
      },
    };
    const guarded = ['a', 'b'].map((id) => route(id, { path: `/${id}` }, { forward: to, middlewareIds: ['m'] }));
    const left = [...guarded, route('c', { path: '/c' }, idle)];
    expect(await told({ destinations, middlewares: [authz], routes: left })).to.deep.equal(nothing);
  });
});

describe('condition-never and condition-always', () => {
  const of = (match: object, more: object = {}) => told({ routes: [route('a', match, { forward, ...more })], ...more });

  it('are told of patterns and paths that decide alone', async () => {
    expect(await of({ pathRegex: '.*' })).to.deep.equal(['condition-always a /match/pathRegex warning']);
    expect(await of({ pathRegex: '/a/[0-9]+' })).to.deep.equal(nothing);
    expect(await of({ pathRegex: '/a/\\.\\./b' })).to.deep.equal(['condition-never a /match/pathRegex warning']);
    expect(await of({ pathRegex: '/a/\\.\\.' })).to.deep.equal(nothing);
    expect(await of({ pathRegex: 'a/b' })).to.deep.equal(['condition-never a /match/pathRegex warning']);
    const groups = [{ id: 'g', name: 'g', pathRegex: 'a/b', routeIds: ['a'] }];
    expect(await told({ routes: [route('a', {})], groups })).to.deep.equal(['condition-never g /pathRegex warning']);
    expect(await of({ path: '/a/../b' })).to.deep.equal(['condition-never a /match/path warning']);
    expect(await of({ path: '/a/b' })).to.deep.equal(nothing);
  });

  it('are told of paths without a slash at their beginning, but for those that continue that of a group', async () => {
    expect(await of({ pathPrefix: 'shop' })).to.deep.equal(['condition-never a /match/pathPrefix warning']);
    expect(await of({ path: 'shop' })).to.deep.equal(['condition-never a /match/path warning']);
    const grouped = (pathPrefix: string) =>
      told({ routes: [route('a', { path: 'cart' })], groups: [{ id: 'g', name: 'g', pathPrefix, routeIds: ['a'] }] });
    expect(await grouped('/shop/')).to.deep.equal(nothing);
    expect(await grouped('shop/')).to.deep.equal(['condition-never g /pathPrefix warning']);
  });

  it('are told of conditions of overrides, by the place of the condition', async () => {
    const overridden = (override: object) =>
      told({
        middlewares: [authz],
        routes: [route('a', { path: '/a' }, { forward, middlewareIds: ['m'], middlewareOverrides: { m: override } })],
      });
    const at = (rule: string, field: string) => [`${rule} a /middlewareOverrides/m/${field} warning`];
    expect(await overridden({ skipWhen: ['request.host == "a"', 'true'] })).to.deep.equal(
      at('condition-always', 'skipWhen/1'),
    );
    expect(await overridden({ onlyWhen: ['1 > 2'] })).to.deep.equal(at('condition-never', 'onlyWhen/0'));
    expect(await overridden({ onlyWhen: ['request.host == "a"'] })).to.deep.equal(nothing);
  });

  it('are told of hosts that the sections of all listeners of a route exclude', async () => {
    const listeners = [
      {
        ...web,
        sections: [
          { name: 'one', hostnames: ['*.a.test', 'b.test'] },
          { name: 'two', hostnames: ['c.test'] },
        ],
      },
      { ...web, id: 'open', name: 'open', port: 8081 },
    ];
    const bound = (hostnames: readonly string[], ...listenerIds: readonly string[]) =>
      told({ listeners, routes: [route('a', { path: '/a', hostnames }, { forward, listenerIds })] });
    const finding = ['condition-never a /match/hostnames warning'];
    expect(await bound(['d.test'], 'web')).to.deep.equal(finding);
    expect(await bound(['x.d.test', '*.e.test'], 'web')).to.deep.equal(finding);
    expect(await bound(['x.a.test'], 'web')).to.deep.equal(nothing);
    expect(await bound(['*.x.a.test'], 'web')).to.deep.equal(nothing);
    expect(await bound(['*.test'], 'web')).to.deep.equal(nothing);
    expect(await bound(['*'], 'web')).to.deep.equal(nothing);
    expect(await bound(['d.test', 'b.test'], 'web')).to.deep.equal(nothing);
    expect(await bound(['c.test'], 'web/one')).to.deep.equal(finding);
    expect(await bound(['c.test'], 'web/two')).to.deep.equal(nothing);
    expect(await bound(['d.test'], 'web', 'open')).to.deep.equal(nothing);
  });
});

describe('redirect-loop', () => {
  const finding = ['redirect-loop a /redirect error'];
  const redirecting = (redirect: object, more: object = {}, match: object = { pathPrefix: '/a' }) =>
    told({ routes: [route('a', match, { redirect, ...more })], ...more });

  it('is told of a location that the route matches again, also when it grows', async () => {
    expect(await redirecting({ path: '/a/new' })).to.deep.equal(finding);
    expect(await redirecting({ path: '/b' })).to.deep.equal(nothing);
  });

  it('follows the scheme to the listener that has it', async () => {
    const toHttps = { scheme: 'https' };
    const more = { destinations: [] };
    expect(await redirecting(toHttps, { ...more, listeners: [secure] })).to.deep.equal(finding);
    expect(await redirecting(toHttps, more)).to.deep.equal(nothing);
    expect(await redirecting(toHttps, { ...more, listeners: [web, secure] })).to.deep.equal(finding);
    const bound = { ...more, listeners: [web, secure], listenerIds: ['web'] };
    expect(await redirecting(toHttps, bound)).to.deep.equal(nothing);
    expect(await redirecting({ port: 9999 })).to.deep.equal(nothing);
    expect(await redirecting({ port: 8080 })).to.deep.equal(finding);
  });

  it('is told behind a proxy that ends TLS of a way back to http, which the listener leads to https again', async () => {
    const listener = (more: object) => ({ destinations: [], listeners: [{ ...web, redirectToHttps: {}, ...more }] });
    const trusting = { trustedProxies: ['10.0.0.0/8'] };
    expect(await redirecting({ scheme: 'http' }, listener(trusting))).to.deep.equal(finding);
    expect(await redirecting({ scheme: 'http' }, listener({}))).to.deep.equal(nothing);
    expect(await redirecting({ host: 'else.test' }, listener(trusting))).to.deep.equal(nothing);
  });

  it('follows another host where a route names it', async () => {
    const there = route('a', { path: '/x', hostnames: ['a.test'] }, { redirect: { host: 'b.test' } });
    const back = (match: object) => route('b', { path: '/x', ...match }, { redirect: { host: 'a.test' } });
    const both = ['redirect-loop a /redirect error', 'redirect-loop b /redirect error'];
    expect(await told({ routes: [there, back({ hostnames: ['b.test'] })] })).to.have.members(both);
    expect(await told({ routes: [there, back({})] })).to.deep.equal(nothing);
  });

  it('says nothing where a middleware may answer first', async () => {
    const routes = [route('a', { pathPrefix: '/a' }, { redirect: { path: '/a/new' }, middlewareIds: ['m'] })];
    expect(await told({ middlewares: [authz], routes })).to.deep.equal(nothing);
    const headers = { id: 'm', name: 'm', type: 'headers', headers: {} };
    expect(await told({ middlewares: [headers], routes })).to.deep.equal(finding);
    const disabled = routes.map((each) => ({ ...each, middlewareOverrides: { m: { disabled: true } } }));
    expect(await told({ middlewares: [authz], routes: disabled })).to.deep.equal(finding);
  });
});

describe('overtaken-redirect', () => {
  const moving = async (listeners: readonly object[]) => {
    const all = await told({
      listeners,
      routes: [
        route('moved', { pathPrefix: '/' }, { redirect: { scheme: 'https', host: 'new.test' } }),
        route('cart', { pathPrefix: '/cart' }),
      ],
    });
    return all.filter((each) => each.startsWith('overtaken-redirect'));
  };

  it('is told where a listener takes requests in cleartext, and not where all have TLS', async () => {
    expect(await moving([web, secure])).to.deep.equal(['overtaken-redirect moved /redirect warning']);
    expect(await moving([])).to.deep.equal(['overtaken-redirect moved /redirect warning']);
    expect(await moving([secure])).to.deep.equal(nothing);
    expect(await moving([{ ...web, redirectToHttps: {} }, secure])).to.deep.equal(nothing);
    expect(await moving([{ ...web, redirectToHttps: {}, trustedProxies: ['10.0.0.1'] }])).to.deep.equal(nothing);
  });

  it('is told of a redirect of all requests to https, and of none that leaves some', async () => {
    const of = (match: object, redirect: object = { scheme: 'https', host: 'new.test' }) =>
      told({ routes: [route('moved', match, { redirect }), route('cart', { path: '/cart/one' })] });
    expect(await of({ pathPrefix: '/' })).to.deep.equal(['overtaken-redirect moved /redirect warning']);
    for (const match of [
      { pathPrefix: '/cart' },
      { pathPrefix: '/', methods: ['GET'] },
      { pathPrefix: '/', headers: [{ name: 'x-kind', value: 'a' }] },
      { pathPrefix: '/', queryParams: [{ name: 'kind', value: 'a' }] },
      { pathPrefix: '/', cel: 'request.headers["x-kind"] == "a"' },
      { pathPrefix: '/', grpc: true },
    ])
      expect(await of(match), JSON.stringify(match)).to.deep.equal(nothing);
    expect(await of({ pathPrefix: '/' }, { host: 'new.test' })).to.deep.equal(nothing);
  });

  it('names eight routes that serve requests before the redirect, and none that serves no request', async () => {
    const moved = route('moved', { pathPrefix: '/' }, { redirect: { scheme: 'https', host: 'new.test' } });
    const named = async (...paths: readonly string[]) => {
      const routes = [moved, ...paths.map((pathPrefix, at) => route(`s${at}`, { pathPrefix }))];
      const found = await findingsOf(faultlessTable({ routes }), { nowMs: 0 });
      return found.find(({ rule }) => rule === 'overtaken-redirect')?.because.map(({ id }) => id);
    };
    const paths = Array.from({ length: 9 }, (_, at) => `/p${at}`);
    expect(await named(...paths)).to.have.lengthOf(8);
    expect(await named('/p0', '/p0', '/p1')).to.have.members(['base', 's0', 's2']);
    expect(await named('/.well-known/acme-challenge/')).to.deep.equal(['base']);
  });
});

describe('rewrite-loses-path', () => {
  it('is told of a prefix whose paths become one, and of no other', async () => {
    const of = (rewrite: object, match: object = { pathPrefix: '/a' }) =>
      told({ routes: [route('a', match, { forward: { ...forward, rewrite } })] });
    const flat = { pathRegex: { pattern: '^/a/.*$', substitution: '/one' } };
    expect(await of(flat)).to.deep.equal(['rewrite-loses-path a /forward/rewrite/pathRegex info']);
    expect(await of(flat, { path: '/a' })).to.deep.equal(nothing);
    expect(await of({ pathRegex: { pattern: '^/a/', substitution: '/b/' } })).to.deep.equal(nothing);
    expect(await of({ hostname: 'b.test' })).to.deep.equal(nothing);
  });
});

describe('host-without-certificate', () => {
  const of = (match: object, more: object = {}) =>
    told({ listeners: [secure], routes: [route('a', { path: '/x', ...match }, { forward, ...more })] });
  const finding = ['host-without-certificate a /match/hostnames error'];

  it('is told of hosts that no certificate covers', async () => {
    expect(await of({ hostnames: ['other.test'] })).to.deep.equal(finding);
    expect(await of({ hostnames: ['shop.test', 'x.wild.test'] })).to.deep.equal(nothing);
    expect(await of({ hostnames: ['x.y.wild.test'] })).to.deep.equal(finding);
    expect(await of({ hostnames: ['*.wild.test'] })).to.deep.equal(nothing);
    expect(await of({ hostnames: ['*.other.test'] })).to.deep.equal(finding);
    expect(await of({ hostnames: ['*', '10.0.0.1'] })).to.deep.equal(nothing);
    expect(await of({ hostnames: ['other.test'], scheme: 'http' })).to.deep.equal([
      'condition-never a /match/scheme warning',
    ]);
    expect(await of({ hostnames: ['other.test'], port: 1 })).to.deep.equal(['condition-never a /match/port warning']);
    expect(await of({ hostnames: ['other.test'], port: 8443 })).to.deep.equal(finding);
    const listeners = [web, secure];
    const bound = route('a', { path: '/x', hostnames: ['other.test'] }, { forward, listenerIds: ['web'] });
    expect(await told({ listeners, routes: [bound] })).to.deep.equal(nothing);
  });

  it('says nothing of a pattern of which a certificate covers one host', async () => {
    const part = makeCertificate({ dnsNames: ['one.part.test'] });
    const listeners = [{ ...secure, tls: { cert: part.cert, key: part.key } }];
    const at = (host: string) => told({ listeners, routes: [route('a', { path: '/x', hostnames: [host] })] });
    expect(await at('*.part.test')).to.deep.equal(nothing);
    expect(await at('two.part.test')).to.deep.equal(finding);
    expect(await at('*.whole.test')).to.deep.equal(finding);
  });

  it('says nothing where a certificate of the listener cannot be read', async () => {
    const listeners = [{ ...secure, tls: { ...tls, certificates: [{ cert: 'none', key: 'none' }] } }];
    const routes = [route('a', { path: '/x', hostnames: ['other.test'] })];
    expect(await told({ listeners, routes })).to.deep.equal(nothing);
  });
});

describe('certificate-expires', () => {
  const until = new Date(Date.UTC(2030, 0, 15));
  const short = makeCertificate({ dnsNames: ['shop.test'], until });
  const listeners = [{ ...secure, tls: { cert: short.cert, key: short.key } }];
  const daysBefore = (days: number) => until.getTime() - days * dayMs;

  it('is told from 14 days before, and is an error behind the end', async () => {
    expect(await told({ listeners }, daysBefore(14.1))).to.deep.equal(nothing);
    expect(await told({ listeners }, daysBefore(13.9))).to.deep.equal(['certificate-expires tls /tls/cert warning']);
    expect(await told({ listeners }, daysBefore(0.1))).to.deep.equal(['certificate-expires tls /tls/cert warning']);
    expect(await told({ listeners }, daysBefore(0))).to.deep.equal(['certificate-expires tls /tls/cert warning']);
    expect(await told({ listeners }, daysBefore(-0.1))).to.deep.equal(['certificate-expires tls /tls/cert error']);
  });

  it('is told of further certificates of a listener, and of those of destinations', async () => {
    const nowMs = daysBefore(1);
    const long = makeCertificate({ dnsNames: ['shop.test'], until: new Date(nowMs + 400 * dayMs) });
    const further = [
      { ...secure, tls: { cert: long.cert, key: long.key, certificates: [{ cert: short.cert, key: short.key }] } },
    ];
    expect(await told({ listeners: further }, nowMs)).to.deep.equal([
      'certificate-expires tls /tls/certificates/0/cert warning',
    ]);
    const destinations = [
      {
        ...{ id: 'd', name: 'd', host: 'd.internal', port: 443 },
        options: { tls: { mode: 'mtls', cert: short.cert, key: short.key } },
      },
    ];
    const routes = [route('d', { path: '/d' }, { forward: { destinations: [{ destinationId: 'd' }] } })];
    expect(await told({ destinations, routes }, nowMs)).to.deep.equal([
      'certificate-expires d /options/tls/cert warning',
    ]);
  });
});

describe('protected-in-cleartext', () => {
  const of = (middleware: object, listener: object, more: object = {}) =>
    told({
      listeners: [{ id: 'web', name: 'web', port: 8080, ...listener }],
      middlewares: [{ id: 'm', name: 'm', ...middleware }],
      routes: [route('a', { path: '/a' }, { forward, middlewareIds: ['m'], ...more })],
    });
  const jwt = { type: 'jwt', jwt: { issuer: 'i', jwks: '{"keys":[]}' } };
  const finding = ['protected-in-cleartext a /middlewareIds warning'];

  it('is told of credentials on a listener without TLS that others reach', async () => {
    expect(await of(jwt, {})).to.deep.equal(finding);
    expect(await of(jwt, { address: '10.0.0.1' })).to.deep.equal(finding);
    expect(await of(jwt, { address: '127.0.0.1' })).to.deep.equal(nothing);
    expect(await of(jwt, { address: '::1' })).to.deep.equal(nothing);
    expect(await of(jwt, { tls })).to.deep.equal(nothing);
    expect(await of(jwt, { redirectToHttps: {} })).to.deep.equal(nothing);
    expect(await of(jwt, {}, { middlewareOverrides: { m: { disabled: true } } })).to.deep.equal(nothing);
  });

  it('knows expressions that read the field authorization', async () => {
    const reading = (cel: string) => ({ type: 'inlineAuthz', inlineAuthz: { rules: [{ cel, action: 'allow' }] } });
    expect(await of(reading('request.headers["authorization"] == "a"'), {})).to.deep.equal(finding);
    expect(await of(reading('request.headers.authorization == "a"'), {})).to.deep.equal(finding);
    expect(await of(reading('request.headers["x-user"] == "a"'), {})).to.deep.equal(nothing);
    expect(await of({ type: 'headers', headers: {} }, {})).to.deep.equal(nothing);
  });
});

describe('shadowed-endpoint', () => {
  const destination = (more: object) => ({ id: 'd', name: 'd', host: 'd.internal', port: 80, ...more });
  const endpoints = [
    { host: '10.0.0.1', port: 80 },
    { host: '10.0.0.2', port: 80, priority: 1 },
  ];
  const use = route('d', { path: '/d' }, { forward: { destinations: [{ destinationId: 'd' }] } });

  it('is told of endpoints without weight, and of later ones that nothing lets in', async () => {
    const of = (more: object) => told({ destinations: [destination(more)], routes: [use] });
    expect(await of({ endpoints })).to.deep.equal(['shadowed-endpoint d /endpoints/1 warning']);
    expect(await of({ endpoints: endpoints.slice(0, 1) })).to.deep.equal(nothing);
    expect(await of({ endpoints, options: { healthCheck: { path: '/' } } })).to.deep.equal(nothing);
    expect(await of({ endpoints, options: { outlierDetection: {} } })).to.deep.equal(nothing);
    const idle = [...endpoints.slice(0, 1), { host: '10.0.0.3', port: 80, weight: 0 }];
    expect(await of({ endpoints: idle, options: { healthCheck: { path: '/' } } })).to.deep.equal([
      'shadowed-endpoint d /endpoints/1 warning',
    ]);
    expect(await of({ endpoints: endpoints.map((each) => ({ ...each, priority: 2 })) })).to.deep.equal(nothing);
  });

  it('is told of a destination whose weight is 0 in every route, unless something else reaches it', async () => {
    const shares = (weight: number, more: object = {}) => ({
      destinations: [
        { destinationId: 'd', weight },
        { destinationId: 'shop', weight: 1 },
      ],
      ...more,
    });
    const of = (to: object, more: object = {}) =>
      told({ destinations: [destination({})], routes: [route('r', { path: '/r' }, { forward: to })], ...more });
    expect(await of(shares(0))).to.deep.equal(['shadowed-endpoint d  warning']);
    expect(await of(shares(1))).to.deep.equal(nothing);
    expect(await of({ destinations: [{ destinationId: 'd', weight: 0 }] })).to.deep.equal(nothing);
    const sticky = { destinationBalancing: { algorithm: 'STICKY_COOKIE', cookie: { name: 'c' } } };
    expect(await of(shares(0, sticky))).to.deep.equal(nothing);
    expect(await of(shares(0, { mirror: { destinationId: 'd' } }))).to.deep.equal(nothing);
    expect(await of(shares(0, { mirrors: [{ destinationId: 'd' }] }))).to.deep.equal(nothing);
    const asked = { id: 'm', name: 'm', type: 'extAuthz', extAuthz: { destinationId: 'd', http: {} } };
    expect(await of(shares(0), { middlewares: [asked] })).to.deep.equal(['unused m  info']);
    const stream = {
      ...{ id: 's', name: 's', match: { listenerIds: ['tcp'] } },
      forward: { destinations: [{ destinationId: 'd' }] },
    };
    const listeners = [web, { id: 'tcp', name: 'tcp', address: '127.0.0.1', port: 9000, protocol: 'tcp' }];
    expect(await of(shares(0), { listeners, streamRoutes: [stream] })).to.deep.equal(nothing);
  });
});

describe('self-forward', () => {
  const of = (place: object, more: object = {}, match: object = { pathPrefix: '/own' }) =>
    told({
      destinations: [{ id: 'self', name: 'self', host: '127.0.0.1', port: 8080, ...place }],
      routes: [route('own', match, { forward: { destinations: [{ destinationId: 'self' }], ...more } })],
    });
  const finding = ['self-forward own /forward/destinations/0 error'];

  it('is told where the destination is a listener of its own, and the route matches what it sends', async () => {
    expect(await of({})).to.deep.equal(finding);
    expect(await of({ host: 'localhost' })).to.deep.equal(finding);
    expect(await of({ port: 8081 })).to.deep.equal(nothing);
    expect(await of({ host: '10.0.0.1' })).to.deep.equal(nothing);
    expect(await of({ host: 'x.internal', endpoints: [{ host: '127.0.0.1', port: 8080 }] })).to.deep.equal(finding);
    expect(await of({ endpoints: [{ host: '10.0.0.1', port: 8080 }] })).to.deep.equal(nothing);
    const away = { rewrite: { pathRegex: { pattern: '^/own', substitution: '/else' } } };
    expect(await of({}, away)).to.deep.equal(nothing);
    const second = { destinations: ['shop', 'self'].map((destinationId) => ({ destinationId, weight: 1 })) };
    expect(await of({}, second)).to.deep.equal(['self-forward own /forward/destinations/1 error']);
  });
});

describe('retry-not-idempotent', () => {
  const of = (retry: object, match: object = {}, more: object = {}) =>
    told({ routes: [route('a', { path: '/a', ...match }, { forward: { ...forward, retry } })], ...more });
  const on = (...conditions: readonly string[]) => ({ attempts: 2, on: conditions });

  it('is told of answers that cause a retry of a method with effects', async () => {
    const methods = (...all: readonly string[]) => ({ methods: all });
    const finding = ['retry-not-idempotent a /forward/retry warning'];
    expect(await of(on('server-error'), methods('POST'))).to.deep.equal(finding);
    expect(await of(on('gateway-error'), methods('GET', 'PATCH'))).to.deep.equal(finding);
    expect(await of(on('gateway-error'), methods('GET', 'PUT'))).to.deep.equal(nothing);
    expect(await of(on('connect-failure'), methods('POST'))).to.deep.equal(nothing);
    expect(await of({ ...on('server-error'), attempts: 0 }, methods('POST'))).to.deep.equal(nothing);
    expect(await of(on('server-error'))).to.deep.equal(['retry-not-idempotent a /forward/retry info']);
  });

  it('is told of the retry of a group, which is named as the cause', async () => {
    const groups = [{ id: 'g', name: 'g', routeIds: ['a'], retryDefault: on('server-error') }];
    const routes = [route('a', { path: '/a', methods: ['POST'] })];
    const found = await findingsOf(faultlessTable({ groups, routes }), { nowMs: Date.now() });
    expect(found.map(({ rule, because }) => [rule, because[0]?.pointer])).to.deep.equal([
      ['retry-not-idempotent', '/retryDefault'],
    ]);
  });
});

describe('timeouts-contradict', () => {
  const of = (more: object, options: object = {}) =>
    told({
      destinations: [{ id: 'd', name: 'd', host: 'd.internal', port: 80, options }],
      routes: [route('a', { path: '/a' }, { forward: { destinations: [{ destinationId: 'd' }], ...more } })],
    });
  const ownLimit = { timeouts: { request: '1s' } };

  it('is told of a try that may be longer than the exchange, or than the destination lets it be', async () => {
    const finding = ['timeouts-contradict a /forward/timeouts/perAttempt warning'];
    expect(await of({ timeouts: { request: '1s', perAttempt: '2s' } })).to.deep.equal(finding);
    expect(await of({ timeouts: { request: '2s', perAttempt: '2s' } })).to.deep.equal(nothing);
    expect(await of({ timeouts: { perAttempt: '2s' } })).to.deep.equal(nothing);
    expect(await of({ timeouts: { request: '0s', perAttempt: '2s' } })).to.deep.equal(nothing);
    expect(await of({ timeouts: { perAttempt: '2s' } }, ownLimit)).to.deep.equal(finding);
    expect(await of({ timeouts: { perAttempt: '1s' } }, ownLimit)).to.deep.equal(nothing);
    expect(await of({ timeouts: { request: '3s', perAttempt: '2s' } }, ownLimit)).to.deep.equal(nothing);
    const retry = { attempts: 1, on: ['connect-failure'], perAttemptTimeout: '2s' };
    expect(await of({ timeouts: { request: '1s' }, retry })).to.deep.equal([
      'timeouts-contradict a /forward/retry/perAttemptTimeout warning',
    ]);
  });
});

describe('unused', () => {
  it('is told of what no reference leads to, and of groups whose routes are not there', async () => {
    const routes = [route('a', { path: '/a' })];
    const group = (more: object) => [{ id: 'g', name: 'g', pathPrefix: '/g', ...more }];
    expect(await told({ routes, groups: group({ routeIds: ['a'] }) })).to.deep.equal(nothing);
    expect(await told({ routes, groups: group({ routeIds: ['b'] }) })).to.deep.equal(['unused g /routeIds info']);
    expect(await told({ routes, groups: group({}) })).to.deep.equal(['unused g /routeIds info']);
    expect(await told({ middlewares: [authz] })).to.deep.equal(['unused m  info']);
    const used = group({ routeIds: ['a'], middlewareIds: ['m'] });
    expect(await told({ routes, groups: used, middlewares: [authz] })).to.deep.equal(nothing);
  });
});
