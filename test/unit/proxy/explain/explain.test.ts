import { expect } from 'chai';
import { request as send } from 'undici';
import type { Middleware } from '../../../../src/model/middleware.ts';
import { compile } from '../../../../src/proxy/compile/compile.ts';
import { explain } from '../../../../src/proxy/explain/explain.ts';
import { Explainer } from '../../../../src/proxy/explain/explainer.ts';
import { built } from '../../../../src/proxy/upstream/balance/hash-ring.ts';
import { freePort } from '../../../support/free-port.ts';
import { ProxyBed } from '../../../support/proxy-bed.ts';
import { seededRandom } from '../../../support/random.ts';

/** 1,000 in the unit suite; SLUICE_EXPLAIN_REQUESTS=10000 for the whole check. */
const requests = Number(process.env.SLUICE_EXPLAIN_REQUESTS ?? 1_000);

describe('explain', function () {
  this.timeout(requests * 120);
  const bed = new ProxyBed();
  afterEach(() => bed.end());

  it(`names the route that serves the request, for ${requests} random requests`, async () => {
    const random = seededRandom(7);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const segments = ['a', 'b', 'api', 'v1', ''];
    const path = () =>
      `/${[pick(segments), pick(segments), pick(segments)].slice(0, 1 + Math.floor(random() * 3)).join('/')}`;
    const pathMatch = () => pick([{ path: path() }, { pathPrefix: path() }, { pathRegex: `${path()}[ab]*` }, {}]);
    const maybe = <T>(value: T): T[] => (random() < 0.3 ? [value] : []);
    const routes = [...Array(60).keys()].map((at) => ({
      id: `r${at}`,
      name: `r${at}`,
      match: {
        ...pathMatch(),
        hostnames: maybe(pick(['a.test', '*.test', '*'])),
        methods: maybe(pick(['GET', 'POST'])),
        headers: maybe({ name: 'x-a', value: pick(['1', '2']) }),
        queryParams: maybe({ name: 'q', value: pick(['1', '2']) }),
        ...(random() < 0.2 && { cel: 'request.path.size() > 4' }),
      },
      directResponse: { status: 200, body: `r${at}` },
    }));
    const groups = [{ id: 'g', name: 'g', routeIds: ['r1', 'r2', 'r3'], pathPrefix: '/api', hostnames: ['b.test'] }];
    const port = await freePort();
    const listeners = [{ id: 'l', name: 'l', address: '127.0.0.1', port, debugHeaders: true }];
    await bed.install({ listeners, routes, groups });
    const { table } = compile(
      { listeners, routes, groups, destinations: [], middlewares: [] },
      { canRun: () => false },
    );
    if (table === undefined) throw new Error('the table must compile');

    for (let at = 0; at < requests; at++) {
      const method = pick(['GET', 'POST'] as const);
      const host = pick(['a.test', 'b.test', 'x.a.test', 'else']);
      const url = path() + pick(['', '?q=1', '?q=2&q=1', '?x']);
      const headers: Record<string, string> = { host, ...(random() < 0.5 && { 'x-a': pick(['1', '2']) }) };
      const { winner } = built(explain(table, [], { method, url, headers, clientIp: '127.0.0.1' }));
      const response = await send(`http://127.0.0.1:${port}${url}`, { method, headers });
      await response.body.dump();
      const served = response.headers['x-sluice-route'];
      expect(winner?.route.name, `${method} ${host}${url} ${JSON.stringify(headers)}`).to.equal(served);
    }
  });

  const explained = (
    routes: readonly object[],
    url: string,
    more: { groups?: readonly object[]; host?: string } = {},
  ) => {
    const { groups = [], host = 'a.test' } = more;
    const named = routes.map((route, at) => ({
      id: `r${at}`,
      name: `r${at}`,
      directResponse: { status: 200 },
      ...route,
    }));
    const parts = { listeners: [], destinations: [], middlewares: [], groups: groups as never, routes: named as never };
    const { table } = compile(parts, { canRun: () => false });
    if (table === undefined) throw new Error('the table must compile');
    return built(explain(table, [], { method: 'GET', url, headers: { host, 'x-a': '1' }, clientIp: '127.0.0.1' }));
  };

  it('names the page of an error: that of the route, else that of the listener, and none for gRPC', async () => {
    const page = (...statuses: string[]) => ({ statuses, bodyFrom: { text: '<p>CANARY</p>' } });
    const forward = { destinations: [{ destinationId: 'gone' }] };
    const configuration = {
      listeners: [{ id: 'l', name: 'l', port: 80, errorPages: [page('400-599')] }],
      routes: [
        { id: 'a', name: 'a', match: { path: '/a' }, forward, errorPages: [page('500-599')] },
        { id: 'b', name: 'b', match: { path: '/b' }, forward },
        { id: 'c', name: 'c', match: { path: '/c' }, directResponse: { status: 404 } },
      ],
      ...{ destinations: [], groups: [], middlewares: [] },
    };
    const explainer = new Explainer();
    const pageOf = async (url: string, headers = {}) => {
      const question = { method: 'GET', url, headers: { host: 'a', ...headers }, clientIp: '127.0.0.1' };
      const { outcome } = await explainer.explain('pages', () => configuration, question);
      expect(JSON.stringify(outcome)).to.not.include('CANARY');
      return 'page' in outcome ? outcome.page : undefined;
    };
    const contentType = 'text/html; charset=utf-8';
    expect(await pageOf('/a')).to.deep.equal({ of: 'route', contentType });
    expect(await pageOf('/b')).to.deep.equal({ of: 'listener', contentType });
    expect(await pageOf('/nowhere')).to.deep.equal({ of: 'listener', contentType });
    expect(await pageOf('/c'), 'a fixed answer is no error').to.equal(undefined);
    expect(await pageOf('/a', { 'content-type': 'application/grpc' })).to.equal(undefined);
  });

  it('says by which key the winner ranks before each other entry that matches', () => {
    const all = { pathPrefix: '/a/b' };
    const rows: readonly [key: string, first: object, second: object, winner: unknown, own: unknown][] = [
      ['priority', { priority: 5 }, {}, 5, 0],
      ['path', { match: { path: '/a/b/c' } }, {}, 'exact', 'prefix'],
      ['path', {}, { match: { pathRegex: '/a.*' } }, 'prefix', 'regex'],
      ['prefixLength', {}, { match: { pathPrefix: '/a' } }, 4, 2],
      ['headers', { match: { ...all, headers: [{ name: 'x-a', value: '1' }] } }, {}, 1, 0],
      [
        'hostnames',
        { match: { ...all, hostnames: ['a.test'] } },
        { match: { ...all, hostnames: ['*.test'] } },
        'exact',
        'suffix',
      ],
      ['queryParams', { match: { ...all, queryParams: [{ name: 'q', value: '1' }] } }, {}, 1, 0],
      ['methods', { match: { ...all, methods: ['GET'] } }, {}, 'yes', 'no'],
      ['cel', { match: { ...all, cel: 'request.method == "GET"' } }, {}, 'yes', 'no'],
      ['routeName', { name: 'a' }, { name: 'b' }, 'a', 'b'],
    ];
    for (const [key, first, second, winner, own] of rows) {
      for (const routes of [
        [first, second],
        [second, first],
      ]) {
        const { candidates } = explained(
          routes.map((route, at) => ({ name: `r${routes[at] === first ? 0 : 1}`, match: all, ...route })),
          '/a/b/c?q=1',
        );
        expect(
          candidates.map(({ rankedBehind }) => rankedBehind),
          key,
        ).to.deep.equal([undefined, { key, winner, own }]);
      }
    }
  });

  it('says so of groups: membership, name and position', () => {
    const group = (name: string, routeIds: readonly string[]) => ({ id: name, name, routeIds });
    const keyOf = (groups: readonly object[]) =>
      explained([{ match: { pathPrefix: '/a' } }, { match: { pathPrefix: '/a' } }], '/a', { groups }).candidates.map(
        ({ rankedBehind }) => rankedBehind,
      );
    expect(keyOf([group('g', ['r1'])])).to.deep.equal([
      undefined,
      { key: 'membership', winner: 'group', own: 'standalone' },
    ]);
    expect(keyOf([group('g', ['r1', 'r0'])])[1]).to.deep.equal({ key: 'position', winner: 0, own: 1 });
    expect(keyOf([group('h', ['r1']), group('g', ['r0'])])[1]).to.deep.equal({
      key: 'groupName',
      winner: 'g',
      own: 'h',
    });
  });

  it('names what comes nearest where nothing matches', () => {
    const routes = [
      { match: { pathPrefix: '/users', methods: ['POST'], hostnames: ['b.test'] } },
      { match: { pathPrefix: '/users', methods: ['POST'] } },
      { match: { path: '/usres/1' } },
      { match: { path: '/orders' } },
    ];
    const { nearest, winner, candidates } = explained(routes, '/users/1');
    expect(winner).to.equal(null);
    expect(candidates).to.have.length(2);
    expect(nearest.map(({ route, failed }) => [route.id, failed])).to.deep.equal([
      ['r1', { matcher: 'methods', wanted: 'POST', found: 'GET' }],
      ['r0', { matcher: 'hostnames', wanted: 'b.test', found: 'a.test' }],
      ['r2', { matcher: 'path', wanted: '/usres/1', found: '/users/1' }],
      ['r3', { matcher: 'path', wanted: '/orders', found: '/users/1' }],
    ]);
    expect(explained([{}], '/').nearest).to.deep.equal([]);
  });

  it('decides each middleware as the request reaches it', () => {
    const middleware = (id: string) => ({ id, name: id, type: 'cors' as const, cors: {} });
    const routes = [
      {
        id: 'r',
        name: 'r',
        middlewareIds: ['a', 'b', 'c', 'd'],
        middlewareOverrides: {
          b: { disabled: true },
          c: { skipWhen: ['request.method == "GET"'] },
          d: { onlyWhen: ['request.method == "POST"'] },
        },
        directResponse: { status: 200 },
      },
    ];
    const middlewares = ['a', 'b', 'c', 'd'].map(middleware);
    const { table } = compile(
      { listeners: [], destinations: [], groups: [], routes, middlewares },
      { canRun: () => true },
    );
    if (table === undefined) throw new Error('the table must compile');
    const { middlewares: steps } = built(
      explain(table, [], { method: 'GET', url: '/', headers: {}, clientIp: '127.0.0.1' }),
    );
    expect(steps.map(({ id, runs, because }) => [id, runs, because])).to.deep.equal([
      ['a', true, 'always'],
      ['b', false, 'disabled'],
      ['c', false, 'skipWhen'],
      ['d', false, 'onlyWhen'],
    ]);
    expect(steps[2]?.expression).to.equal('request.method == "GET"');
    expect(steps[3]?.conditions).to.deep.equal([
      { field: 'onlyWhen', expression: 'request.method == "POST"', value: false },
    ]);
  });

  const chainOf = (middlewares: readonly Partial<Middleware>[], overrides: object, question: object) => {
    const named = middlewares.map((each, i) => ({ id: `m${i}`, name: `m${i}`, ...each }) as Middleware);
    const forward = { destinations: [{ destinationId: 'd' }] };
    const middlewareIds = named.map(({ id }) => id);
    const routes = [{ id: 'r', name: 'r', middlewareIds, middlewareOverrides: { ...overrides }, forward }];
    const { table } = compile(
      { listeners: [], destinations: [], groups: [], routes, middlewares: named },
      { canRun: () => true },
    );
    if (table === undefined) throw new Error('the table must compile');
    const destinations = [{ id: 'd', name: 'd', host: 'backend', port: 80 }];
    return built(
      explain(table, destinations, { method: 'GET', url: '/', headers: {}, clientIp: '127.0.0.1', ...question }),
    );
  };
  const sets = (key: string, value: string): Partial<Middleware> => ({
    type: 'headers',
    headers: { requestHeadersToAdd: [{ key, value }], requestHeadersToRemove: ['x-gone'] },
  });

  it('tells what each middleware would do, and conditions see what those before it changed', () => {
    const { middlewares, outcome } = chainOf(
      [sets('X-A', '${request.method}'), sets('Host', 'inner.test'), { type: 'rateLimit', rateLimit: {} }],
      {
        m1: { onlyWhen: ['"x-none" in request.headers', 'request.headers["x-a"] == "GET"'] },
        m2: { skipWhen: ['"x-gone" in request.headers'] },
      },
      { headers: { 'x-gone': '1' } },
    );
    const gone = { name: 'x-gone', value: null, append: false };
    expect(middlewares[0]?.effect).to.deep.equal({
      kind: 'passes',
      changes: [{ name: 'X-A', value: 'GET', append: false }, gone],
    });
    expect(middlewares[1]?.conditions?.map(({ value }) => value)).to.deep.equal([false, true]);
    expect(middlewares[2]?.conditions?.map(({ value }) => value)).to.deep.equal([false]);
    expect(middlewares[2]?.effect).to.deep.equal({ kind: 'unknown' });
    expect(outcome).to.deep.include({ upstream: { method: 'GET', target: '/', host: 'inner.test' } });
  });

  it('tells of conditional edits those whose condition is true', () => {
    const requestHeadersToAdd = [
      { key: 'X-A', value: 'a', when: 'request.method == "GET"' },
      { key: 'X-B', value: 'b', when: 'request.method == "POST"' },
    ];
    const { middlewares } = chainOf([{ type: 'headers', headers: { requestHeadersToAdd } }], {}, {});
    expect(middlewares[0]?.effect).to.deep.equal({
      kind: 'passes',
      changes: [{ name: 'X-A', value: 'a', append: false }],
    });
  });

  it('tells which middleware answers, and which are never reached', () => {
    const rules = [{ cel: 'request.body.json.user == "ann"', action: 'allow' }] as const;
    const chain = [{ type: 'inlineAuthz', inlineAuthz: { rules, denyStatus: 418 } }, sets('X-A', 'a')] as const;
    const ask = (user: string) =>
      chainOf(chain, {}, { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ user }) });
    const denied = ask('bob');
    expect(denied.outcome).to.deep.equal({ action: 'middleware', id: 'm0', status: 418 });
    expect(denied.middlewares.map(({ because, effect }) => [because, effect])).to.deep.equal([
      ['always', { kind: 'answers', status: 418 }],
      ['notReached', undefined],
    ]);
    expect(ask('ann').outcome.action).to.equal('forward');
  });

  it('answers 400 for a path without canonical form', () => {
    const { table } = compile(
      { listeners: [], destinations: [], groups: [], routes: [], middlewares: [] },
      { canRun: () => true },
    );
    if (table === undefined) throw new Error('the table must compile');
    const { outcome, winner } = built(
      explain(table, [], { method: 'GET', url: '/%zz', headers: {}, clientIp: '127.0.0.1' }),
    );
    expect(winner).to.equal(null);
    expect(outcome).to.deep.equal({ action: 'error', status: 400, error: 'bad_request' });
  });
});
