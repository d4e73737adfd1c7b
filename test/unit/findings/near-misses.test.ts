// Near misses of the rules: tables on both sides of a line that is easily drawn in the wrong place.
import { expect } from 'chai';
import { findingsOf } from '../../../src/findings/findings.ts';
import type { Witness } from '../../../src/model/answers/finding-answers.ts';
import { Explainer } from '../../../src/proxy/explain/explainer.ts';
import { faultlessTable, forwardToShop as forward, routeTo as route } from '../../support/faultless-table.ts';
import { makeCertificate } from '../../support/made-certificates.ts';
import { toldFindings as told } from '../../support/told-findings.ts';

const nothing: readonly string[] = [];
const { cert, key } = makeCertificate({ dnsNames: ['shop.test'] });
const web = { id: 'web', name: 'web', address: '127.0.0.1', port: 8080 };
const secure = { id: 'tls', name: 'tls', address: '127.0.0.1', port: 8443, tls: { cert, key } };
const authz = {
  ...{ id: 'm', name: 'm', type: 'inlineAuthz' },
  inlineAuthz: { rules: [{ cel: 'request.method == "GET"', action: 'allow' }] },
};

describe('ambiguous-order of patterns', () => {
  const two = (one: string, other: string) =>
    told({ routes: [route('a', { pathRegex: one }), route('b', { pathRegex: other })] });
  const finding = ['ambiguous-order b /match warning'];

  it('is told of distinct patterns that one path matches', async () => {
    expect(await two('/api/.*', '/api/[a-z]+')).to.deep.equal(finding);
    expect(await two('/api/v1/.*', '/api/v2/.*')).to.deep.equal(nothing);
    expect(await two('/api/[0-9]+', '/shop/[0-9]+')).to.deep.equal(nothing);
    expect(await two('/[a-z]+/x', '/api/x')).to.deep.equal(finding);
    expect(await two('/api/x', '/[a-z]+/x')).to.deep.equal(finding);
    expect(await two('/api/[0-9]+$', '/api/[a-z]+$')).to.deep.equal(nothing);
  });

  it('has a witness that both match, of which explain says that the first wins it', async () => {
    const made = faultlessTable({
      routes: [route('a', { pathRegex: '/api/.*' }), route('b', { pathRegex: '/api/[a-z]+' })],
    });
    const [found] = await findingsOf(made, { nowMs: 0 });
    const witness = found?.witness as Witness;
    const explained = await new Explainer().explain(undefined, () => made, {
      ...{ clientIp: '127.0.0.1', body: '' },
      ...witness,
    });
    expect(explained.winner?.route.id).to.equal('a');
    const matching = explained.candidates.filter(({ matches }) => matches).map((each) => each.route.id);
    expect(matching).to.deep.equal(['a', 'b']);
  });
});

describe('unprotected-sibling of routes in groups', () => {
  const destinations = [{ id: 'api', name: 'api', host: 'api.internal', port: 80 }];
  const to = { destinations: [{ destinationId: 'api' }] };
  const guarded = (id: string) => route(id, { path: `/${id}` }, { forward: to, middlewareIds: ['m'] });
  const open = (id: string) => route(id, { path: `/${id}` }, { forward: to });

  it('counts a route once, in however many groups it is', async () => {
    const groups = ['g', 'h'].map((id) => ({ id, name: id, pathPrefix: `/${id}`, routeIds: ['a'] }));
    const table = { destinations, middlewares: [authz] };
    expect(await told({ ...table, groups, routes: [guarded('a'), open('o')] })).to.deep.equal(nothing);
    expect(await told({ ...table, groups, routes: [guarded('a'), guarded('b'), open('o')] })).to.deep.equal([
      'unprotected-sibling o /middlewareIds warning',
    ]);
  });

  it('counts no route that answers errors alone', async () => {
    const closed = route('c', { path: '/c' }, { forward: to, middlewareIds: ['gone'] });
    const table = { destinations, middlewares: [authz], routes: [guarded('a'), closed, open('o')] };
    expect(await told(table)).to.deep.equal(nothing);
  });
});

describe('condition-never of listeners', () => {
  const of = (match: object, listeners: readonly object[], more: object = {}) =>
    told({ listeners, routes: [route('a', { path: '/a', ...match }, { forward, ...more })] });

  it('is told of a scheme or a port that no listener of the route has', async () => {
    const scheme = ['condition-never a /match/scheme warning'];
    const port = ['condition-never a /match/port warning'];
    expect(await of({ scheme: 'https' }, [web])).to.deep.equal(scheme);
    expect(await of({ scheme: 'http' }, [web])).to.deep.equal(nothing);
    expect(await of({ scheme: 'http' }, [secure])).to.deep.equal(scheme);
    expect(await of({ scheme: 'https' }, [web, secure], { listenerIds: ['web'] })).to.deep.equal(scheme);
    expect(await of({ scheme: 'https' }, [])).to.deep.equal(nothing);
    expect(await of({ port: 8080 }, [web, secure])).to.deep.equal(nothing);
    expect(await of({ port: 8443 }, [web])).to.deep.equal(port);
    expect(await of({ port: 8443 }, [web, secure], { listenerIds: ['web'] })).to.deep.equal(port);
    expect(await of({ port: 8443, scheme: 'http' }, [web, secure])).to.deep.equal(port);
    expect(await of({ port: 9999 }, [])).to.deep.equal(nothing);
  });

  it('is told of hosts that no section of any listener has', async () => {
    const sections = [{ name: 'one', hostnames: ['*.a.test'] }];
    const hosts = (hostnames: readonly string[], listeners: readonly object[]) =>
      told({
        listeners,
        routes: [route('a', { path: '/a', hostnames })],
        groups: [],
      });
    expect(await hosts(['b.test'], [{ ...web, sections }])).to.deep.equal([
      'condition-never a /match/hostnames warning',
    ]);
    expect(await hosts(['x.a.test'], [{ ...web, sections }])).to.deep.equal(nothing);
    expect(
      await hosts(
        ['b.test'],
        [
          { ...web, sections },
          { ...web, id: 'open', name: 'open', port: 81 },
        ],
      ),
    ).to.deep.equal(nothing);
  });

  it('is told of a host that another section of the listener has more exactly', async () => {
    const sections = [
      { name: 'wide', hostnames: ['*.a.test'] },
      { name: 'one', hostnames: ['x.a.test'] },
    ];
    const of = (hostname: string, section: string) =>
      told({
        listeners: [{ ...web, sections }],
        routes: [route('a', { path: '/a', hostnames: [hostname] }, { forward, listenerIds: [`web/${section}`] })],
      });
    expect(await of('x.a.test', 'wide')).to.deep.equal(['condition-never a /match/hostnames warning']);
    expect(await of('x.a.test', 'one')).to.deep.equal(nothing);
    expect(await of('y.a.test', 'wide')).to.deep.equal(nothing);
  });

  it('says nothing of a pattern for paths as they are sent, where a listener shows those', async () => {
    const pathRegex = '/a/\\.\\./b';
    const routes = [route('a', { pathRegex })];
    expect(await told({ routes })).to.deep.equal(['condition-never a /match/pathRegex warning']);
    expect(await told({ routes, listeners: [{ ...web, pathNormalization: 'report' }] })).to.deep.equal(nothing);
  });
});

describe('condition-always and condition-never of patterns', () => {
  const grouped = (pathRegex: string, group: object) =>
    told({ routes: [route('a', { pathRegex })], groups: [{ id: 'g', name: 'g', routeIds: ['a'], ...group }] });

  it('look at a pattern behind the prefix of a group as at the rest of a path', async () => {
    const always = ['condition-always a /match/pathRegex warning'];
    expect(await grouped('/.*', { pathPrefix: '/g' })).to.deep.equal(nothing);
    expect(await grouped('.+', { pathPrefix: '/g' })).to.deep.equal(nothing);
    expect(await grouped('.*', { pathPrefix: '/g' })).to.deep.equal(always);
    expect(await grouped('/.*', {})).to.deep.equal(always);
    expect(await grouped('x/y', { pathPrefix: '/g' })).to.deep.equal(nothing);
    const never = ['condition-never a /match/pathRegex warning'];
    expect(await grouped('x/y', {})).to.deep.equal(never);
    expect(await told({ routes: [route('a', { pathRegex: 'x/y' })] })).to.deep.equal(never);
  });
});

describe('unreachable-route of listeners', () => {
  const lost = async (earlier: object, listeners: readonly object[], more: object = {}) => {
    const all = await told({
      listeners,
      routes: [
        route('first', { pathPrefix: '/x', ...earlier }, { forward, priority: 1 }),
        route('late', { path: '/x/y' }, { forward, ...more }),
      ],
    });
    return all.includes('unreachable-route late /match error');
  };

  it('is told where an earlier route asks for the scheme and port that all requests have', async () => {
    expect(await lost({ scheme: 'http' }, [web])).to.equal(true);
    expect(await lost({ scheme: 'http' }, [web, secure])).to.equal(false);
    expect(await lost({ scheme: 'http' }, [web, secure], { listenerIds: ['web'] })).to.equal(true);
    expect(await lost({ port: 8080, scheme: 'http' }, [web])).to.equal(true);
    expect(await lost({ port: 8443 }, [web, secure], { listenerIds: ['tls'] })).to.equal(true);
    expect(await lost({ port: 8443 }, [web, secure])).to.equal(false);
    expect(await lost({ scheme: 'http' }, [])).to.equal(false);
  });
});

describe('redirect-loop of methods', () => {
  const loop = (methods: readonly string[], code: number) =>
    told({ routes: [route('a', { path: '/a', methods }, { redirect: { path: '/a', code } })] });

  it('follows with the method that a client would send', async () => {
    const finding = ['redirect-loop a /redirect error'];
    expect(await loop(['POST'], 308)).to.deep.equal(finding);
    expect(await loop(['POST'], 307)).to.deep.equal(finding);
    expect(await loop(['POST'], 301)).to.deep.equal(nothing);
    expect(await loop(['POST'], 303)).to.deep.equal(nothing);
    expect(await loop(['PUT'], 302)).to.deep.equal(finding);
    expect(await loop(['PUT'], 303)).to.deep.equal(nothing);
    expect(await loop(['HEAD'], 303)).to.deep.equal(finding);
  });
});

describe('self-forward of shares', () => {
  const table = (self: object, forwarding: object, more: object = {}) =>
    told({
      destinations: [{ id: 'self', name: 'self', host: '127.0.0.1', port: 8080, ...self }],
      routes: [route('own', { pathPrefix: '/own' }, { forward: forwarding })],
      ...more,
    });
  const all = { destinations: [{ destinationId: 'self' }] };
  const finding = ['self-forward own /forward/destinations/0 error'];

  it('is told of no share without weight', async () => {
    const shares = (weight: number) => ({
      destinations: [
        { destinationId: 'self', weight },
        { destinationId: 'shop', weight: 1 },
      ],
    });
    expect(await table({}, shares(1))).to.deep.equal(finding);
    expect(await table({}, shares(0))).to.deep.equal(['shadowed-endpoint self  warning']);
  });

  it('is told where the destination speaks as the listener does, on an address that it takes', async () => {
    expect(await table({ port: 8443 }, all, { listeners: [web, secure] })).to.deep.equal(nothing);
    const overTls = { port: 8443, options: { tls: { mode: 'tls' } } };
    expect(await table(overTls, all, { listeners: [web, secure] })).to.deep.equal(finding);
    const wide = { listeners: [{ ...web, address: '0.0.0.0' }] };
    expect(await table({}, all, wide)).to.deep.equal(finding);
    expect(await table({ host: '::1' }, all, wide)).to.deep.equal(nothing);
    expect(await table({ host: '::1' }, all, { listeners: [{ ...web, address: '::' }] })).to.deep.equal(finding);
  });

  it('is told of no route whose matched fields may be others on the way back', async () => {
    const asking = (more: object) =>
      told({
        destinations: [{ id: 'self', name: 'self', host: '127.0.0.1', port: 8080 }],
        routes: [
          route(
            'own',
            { pathPrefix: '/own', headers: [{ name: 'x-a', value: '1' }] },
            { forward: { ...all, ...more } },
          ),
        ],
      });
    expect(await asking({})).to.deep.equal(finding);
    expect(await asking({ headers: { requestHeadersToRemove: ['x-a'] } })).to.deep.equal(nothing);
  });
});

describe('rewrite-loses-path of depth and shares', () => {
  const flat = { pathRegex: { pattern: '^/r/([^/]+).*$', substitution: '/\\1' } };
  const of = (forwarding: object) => told({ routes: [route('r', { pathPrefix: '/r' }, { forward: forwarding })] });

  it('is told of what is lost behind a segment that is kept', async () => {
    expect(await of({ ...forward, rewrite: flat })).to.deep.equal([
      'rewrite-loses-path r /forward/rewrite/pathRegex info',
    ]);
    expect(await of({ ...forward, rewrite: { path: '/s' } })).to.deep.equal(nothing);
  });

  it('is told of the rewrite of a share, and not of that of the route where no share has it', async () => {
    const share = [{ destinationId: 'shop', rewrite: flat }];
    const ofShare = ['rewrite-loses-path r /forward/destinations/0/rewrite/pathRegex info'];
    expect(await of({ destinations: share })).to.deep.equal(ofShare);
    expect(await of({ destinations: share, rewrite: flat })).to.deep.equal(ofShare);
  });
});

describe('retry-not-idempotent without conditions', () => {
  it('is told of the default, which repeats on errors of the server', async () => {
    const of = (retry: object) =>
      told({ routes: [route('a', { path: '/a', methods: ['POST'] }, { forward: { ...forward, retry } })] });
    expect(await of({ attempts: 2 })).to.deep.equal(['retry-not-idempotent a /forward/retry warning']);
    expect(await of({})).to.deep.equal(nothing);
    expect(await of({ attempts: 2, on: ['connection-failure'] })).to.deep.equal(nothing);
  });
});
