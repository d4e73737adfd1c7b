import { expect } from 'chai';
import type { ReplayReport } from '../../src/model/answers/diff-answers.ts';
import { RequestHistory } from '../../src/proxy/requests/request-history.ts';
import { newRing, RequestRing } from '../../src/proxy/requests/request-ring.ts';
import { ApiServer } from '../support/api-server.ts';
import { secretHashes } from '../support/password-hashes.ts';

const numbers = {
  timeMs: Date.UTC(2026, 2, 30),
  ...{ durationMs: 1, proxyMs: 1, connectMs: 0, firstByteMs: 0 },
  index: 42,
  oneIn: 4,
  status: 200,
  attempts: 1,
  protocol: 'HTTP/1.1',
  secure: false,
  candidate: false,
  error: '',
};
const canary = 'CANARY-92-VALUE';

describe('POST /diff', () => {
  let server: ApiServer;
  let ring: RequestRing;

  const write = async (method: string, path: string, body?: object) => {
    const answer = await server.call(method, path, body === undefined ? {} : { body });
    expect(answer.status, answer.text).to.be.lessThan(300);
    return answer.json as Record<string, unknown>;
  };
  const answers = (status: number) => ({ directResponse: { status } });
  const put = async (id: string, body: object): Promise<void> => {
    const { status } = await server.call('PUT', `/routes/${id}`, { body: { name: id, ...body } });
    if (status === 404) await write('POST', '/routes', { id, name: id, ...body });
    else expect(status).to.equal(200);
  };
  const note = (path: string, more: { method?: string; params?: string; kind?: string; page?: string } = {}): void => {
    const { method = 'GET', params = '', kind, page } = more;
    const ids = ['', '', '', '', '', params, 'edge', 'edge', ''];
    const values = [kind, page].map((value) => (value === undefined ? '' : `=${value}`));
    ring.write(0, numbers, [method, 'shop.test', ...ids, ...values, path].join('\0'));
  };
  const diff = async (body: object) => {
    const { status, json, text } = await server.call('POST', '/diff', { body });
    expect(status, text).to.equal(200);
    return {
      ...(json as { replay: ReplayReport; unreachable: string[]; from: string | null; to: string; routes: object[] }),
      text,
    };
  };
  const replayed = async (replay: object = {}) => (await diff({ replay })).replay;
  const refusal = async (body: object) => {
    const { status, json } = await server.call('POST', '/diff', { body });
    return [status, (json as { error: string }).error];
  };

  beforeEach(async () => {
    const shape = newRing(1_000, 1, ['x-kind'], ['page']);
    ring = new RequestRing(shape);
    server = await ApiServer.start({ recent: new RequestHistory(shape), nodeId: 'a' });
    await write('POST', '/listeners', { id: 'edge', name: 'edge', port: 8080 });
    await put('all', { match: { pathPrefix: '/' }, ...answers(200) });
    await put('cart', { match: { path: '/cart' }, ...answers(201) });
    const { id } = await write('POST', '/snapshots', { name: 'first' });
    await write('POST', `/snapshots/${id}/activate`);
  });
  afterEach(() => server.stop());

  it('is nothing but the requests that are the same where nothing is edited', async () => {
    note('/cart');
    note('/other');
    const { replay, unreachable, to } = await diff({ replay: {} });
    expect(replay).to.deep.equal({
      ...{ requests: 2, standsFor: 8, same: 2, moved: [], lost: [], gained: [], changed: [], undecided: [] },
    });
    expect([to, unreachable]).to.deep.equal(['staged', []]);
    expect((await diff({})).replay).to.equal(null);
    expect((await diff({ replay: null })).replay).to.equal(null);
  });

  it('tells entities, findings and routes as the difference of an activation does', async () => {
    await put('all', { match: { pathPrefix: '/' }, priority: 1, ...answers(200) });
    const { json } = await server.call('POST', '/diff', { body: { from: 'active', to: 'staged' } });
    expect(json).to.deep.include({
      entities: {
        created: [],
        changed: [{ kind: 'routes', id: 'all', name: 'all', changes: [{ pointer: '/priority', from: null, to: 1 }] }],
        deleted: [],
      },
      routes: [{ id: 'all', name: 'all', why: ['route all: /priority'] }],
      replay: null,
      unreachable: [],
    });
    const { findings } = json as { findings: { new: { rule: string; id: string }[] } };
    expect(findings.new.map(({ rule, id }) => `${rule} ${id}`)).to.include('unreachable-route cart');
  });

  it('names requests that move, with examples as the list of requests has them', async () => {
    for (let i = 0; i < 7; i++) note('/cart');
    await put('new', { match: { path: '/cart', methods: ['GET'] }, ...answers(202) });
    const { moved, same } = await replayed();
    expect(same).to.equal(0);
    expect(moved).to.have.lengthOf(1);
    const [{ examples, ...row } = { examples: [] }] = moved;
    expect(row).to.deep.equal({
      from: { id: 'cart', name: 'cart' },
      to: { id: 'new', name: 'new' },
      requests: 7,
      standsFor: 28,
    });
    expect(examples).to.have.lengthOf(5);
    const { json } = await server.call('GET', '/requests?limit=1');
    expect(examples[0]).to.deep.equal((json as { requests: object[] }).requests[0]);
  });

  it('counts another service of a middleware as another middleware, for the requests that ask it', async () => {
    const service = { id: 'authz', name: 'authz', host: 'authz.internal', port: 80 };
    await write('POST', '/destinations', service);
    await write('POST', '/middlewares', {
      ...{ id: 'ask', name: 'ask', type: 'extAuthz' },
      extAuthz: { destinationId: 'authz' },
    });
    await put('cart', { match: { path: '/cart' }, middlewareIds: ['ask'], ...answers(201) });
    const { id } = await write('POST', '/snapshots', { name: 'second' });
    await write('POST', `/snapshots/${id}/activate`);
    note('/cart');
    note('/other');
    const before = await replayed();
    expect(before).to.include({ same: 2 });
    await write('PUT', '/destinations/authz', { ...service, host: 'other.internal' });
    const { same, changed } = await replayed();
    expect(same).to.equal(1);
    expect(changed).to.deep.equal([{ route: { id: 'cart', name: 'cart' }, what: ['middlewares'], requests: 1 }]);
  });

  it('names requests that are lost and gained, with null for no route', async () => {
    await write('DELETE', '/routes/all');
    note('/other');
    const { lost, moved } = await replayed();
    expect(moved).to.deep.equal([]);
    expect(lost.map(({ from, to, requests }) => [from?.id, to, requests])).to.deep.equal([['all', null, 1]]);
    const { replay } = await diff({ from: 'staged', to: 'active', replay: { limit: 1 } });
    expect(replay.gained.map(({ from, to, requests }) => [from, to?.id, requests])).to.deep.equal([[null, 'all', 1]]);
  });

  it('names the parts of a route that serves requests in another way', async () => {
    note('/cart');
    await put('cart', { match: { path: '/cart' }, ...answers(204) });
    expect((await replayed()).changed).to.deep.equal([
      { route: { id: 'cart', name: 'cart' }, what: ['answer'], requests: 1 },
    ]);
    await write('POST', '/destinations', { id: 'd', name: 'd', host: 'd.test', port: 80 });
    const forward = { destinations: [{ destinationId: 'd' }], timeouts: { request: '5s' } };
    await put('cart', { match: { path: '/cart' }, forward });
    expect((await replayed()).changed[0]?.what).to.deep.equal(['destinations', 'timeouts', 'answer']);
  });

  const activate = async (name: string): Promise<void> => {
    const { id } = await write('POST', '/snapshots', { name });
    await write('POST', `/snapshots/${id}/activate`);
  };

  for (const [type, before, after] of [
    ['compress', { minBytes: 100 }, { minBytes: 200 }],
    ['basicAuth', { users: `ann:${secretHashes.bcrypt}` }, { users: `bob:${secretHashes.bcrypt}` }],
    ['apiKey', { sources: { header: 'x-key' } }, { sources: { query: 'key' } }],
    ['rateLimit', { requestsPerSecond: 5, burst: 5 }, { requestsPerSecond: 5, burst: 5, key: 'request.host' }],
    ['grpcWeb', {}, undefined],
  ] as const)
    it(`names a changed middleware of type ${type}`, async () => {
      const body = (block: object) => ({ name: 'm', type, [type]: block });
      await write('POST', '/middlewares', { id: 'm', ...body(before) });
      const cart = { match: { path: '/cart' }, ...answers(201) };
      await put('cart', { ...cart, middlewareIds: ['m'] });
      await activate('second');
      note('/cart');
      expect(await replayed()).to.include({ requests: 1, same: 1 });
      if (after === undefined) await put('cart', cart);
      else await write('PUT', '/middlewares/m', body(after));
      expect((await replayed()).changed).to.deep.equal([
        { route: { id: 'cart', name: 'cart' }, what: ['middlewares'], requests: 1 },
      ]);
    });

  it('names other error pages and another limit of bodies, those of the listener where the route has none', async () => {
    note('/cart');
    const listener = { name: 'edge', port: 8080 };
    const what = async () => (await replayed()).changed.map((each) => each.what.join());
    await write('PUT', '/listeners/edge', { ...listener, maxRequestBodyBytes: 10 });
    expect(await what()).to.deep.equal(['answer']);
    await write('PUT', '/listeners/edge', {
      ...listener,
      errorPages: [{ statuses: ['404'], bodyFrom: { text: 'none' } }],
    });
    expect(await what()).to.deep.equal(['answer']);
    await write('PUT', '/listeners/edge', listener);
    expect(await what()).to.deep.equal([]);
    await put('cart', { match: { path: '/cart' }, maxRequestBodyBytes: 10, ...answers(201) });
    expect(await what()).to.deep.equal(['answer']);
  });

  it('decides nothing about requests whose credential may name another consumer, and names the credential', async () => {
    const consumer = (name: string, key: string) => ({ name, credentials: [{ type: 'apiKey', key }] });
    await write('POST', '/consumers', { id: 'ann', ...consumer('ann', canary) });
    const sources = { header: 'X-Kind', query: 'page', cookie: 'key' };
    await write('POST', '/middlewares', { id: 'm', name: 'm', type: 'apiKey', apiKey: { sources } });
    const basicAuth = { users: `ann:${secretHashes.bcrypt}` };
    await write('POST', '/middlewares', { id: 'n', name: 'n', type: 'basicAuth', basicAuth });
    await put('cart', { match: { path: '/cart' }, middlewareIds: ['m'], ...answers(201) });
    await put('desk', { match: { path: '/desk' }, middlewareIds: ['n'], ...answers(201) });
    await activate('second');
    for (const path of ['/cart', '/desk', '/other']) note(path);
    note('/cart', { kind: '[redacted]' });
    note('/cart', { params: 'page', page: '1' });
    expect(await replayed()).to.include({ requests: 5, same: 5 });
    const needs = async () =>
      (await replayed()).undecided.map(({ needs: each, requests }) => `${each}: ${requests}`).sort();
    const all = ['header cookie: 1', 'header x-kind: 1', 'query page: 1'];
    await write('PUT', '/consumers/ann', consumer('ann', `${canary}-2`));
    expect(await needs()).to.deep.equal(all);
    await write('PUT', '/consumers/ann', consumer('anna', canary));
    expect(await needs()).to.deep.equal(all);
    await write('PUT', '/consumers/ann', consumer('ann', canary));
    expect(await needs()).to.deep.equal([]);
    const basic = { type: 'basic', username: 'bob', passwordHash: secretHashes.bcrypt };
    await write('POST', '/consumers', { id: 'bob', name: 'bob', credentials: [basic] });
    expect(await needs()).to.deep.equal([]);
    await write('PUT', '/middlewares/n', {
      name: 'n',
      type: 'basicAuth',
      basicAuth: { ...basicAuth, consumers: true },
    });
    await activate('third');
    await write('DELETE', '/consumers/bob');
    const { text, routes, replay } = await diff({ replay: {} });
    expect(replay.undecided).to.deep.equal([{ needs: 'header authorization', requests: 1 }]);
    expect(routes).to.deep.equal([{ id: 'desk', name: 'desk', why: ['consumer bob: deleted'] }]);
    expect(text).to.not.contain(canary);
  });

  it('names what a record lacks, and decides what it has', async () => {
    note('/cart', { kind: 'gold', params: 'page&sort', page: '1' });
    const match = { path: '/cart', methods: ['GET'] };
    const needs = async (more: object): Promise<unknown> => {
      await put('new', { match: { ...match, ...more }, ...answers(202) });
      const { undecided, moved, same } = await replayed();
      return undecided.length > 0 ? undecided.map(({ needs: each }) => each).join() : moved.length > 0 ? 'moved' : same;
    };
    expect(await needs({ headers: [{ name: 'X-Tenant', value: 'a' }] })).to.equal('header x-tenant');
    expect(await needs({ headers: [{ name: 'X-Kind', value: 'gold' }] })).to.equal('moved');
    expect(await needs({ headers: [{ name: 'X-Kind', value: 'lead' }] })).to.equal(1);
    expect(await needs({ queryParams: [{ name: 'page', value: '1' }] })).to.equal('moved');
    expect(await needs({ queryParams: [{ name: 'page', value: '2' }] })).to.equal(1);
    expect(await needs({ queryParams: [{ name: 'sort' }] })).to.equal('moved');
    expect(await needs({ queryParams: [{ name: 'sort', value: 'up' }] })).to.equal('query sort');
    expect(await needs({ queryParams: [{ name: 'none' }] })).to.equal(1);
    expect(await needs({ cel: 'request.body.raw.contains("x")' })).to.equal('body');
    expect(await needs({ cel: 'request.headers["x-kind"] == "gold"' })).to.equal('moved');
    expect(await needs({ cel: 'has(request.headers.other)' })).to.equal('header other');
    expect(await needs({ cel: '"other" in request.headers' })).to.equal('header other');
    expect(await needs({ cel: 'request.headers["other"] == "x" || request.path == "/cart"' })).to.equal('moved');
    expect(await needs({ cel: 'request.headers["other"] == "x" && request.path == "/x"' })).to.equal(1);
    expect(await needs({ cel: 'request.clientIp == "::1"' })).to.equal('clientIp');
    expect(await needs({ cel: 'has(request.tls)' })).to.equal(1);
    expect(await needs({ headers: [{ name: 'x-tenant', value: 'a' }], cel: 'request.path == "/x"' })).to.equal(1);
  });

  it('does not take lines of one field apart, nor believe a redacted or a long value', async () => {
    const undecided = async (multiple?: string): Promise<string | undefined> => {
      const header = { name: 'x-kind', value: 'gold', ...(multiple !== undefined && { multiple }) };
      await put('new', { match: { path: '/cart', headers: [header] }, ...answers(202) });
      return (await replayed({ limit: 1 })).undecided[0]?.needs;
    };
    note('/cart', { kind: 'gold, lead' });
    expect(await undecided('any')).to.equal('header x-kind');
    expect(await undecided()).to.equal(undefined);
    for (const kind of ['[redacted]', 'x'.repeat(254), 'größe']) {
      note('/cart', { kind });
      expect(await undecided(), kind).to.equal('header x-kind');
    }
  });

  it('decides by a field that was absent, and not by values of a parameter that came twice', async () => {
    note('/cart', { params: 'page&page', page: '1' });
    const outcome = async (more: object): Promise<unknown> => {
      await put('new', { match: { path: '/cart', methods: ['GET'], ...more }, ...answers(202) });
      const { undecided, same } = await replayed();
      return undecided[0]?.needs ?? same;
    };
    expect(await outcome({ headers: [{ name: 'x-kind', value: 'gold' }] })).to.equal(1);
    expect(await outcome({ queryParams: [{ name: 'page', value: '2', multiple: 'any' }] })).to.equal('query page');
    expect(await outcome({ cel: 'request.queryValues["page"].size() > 1' })).to.equal('query page');
    expect(await outcome({ cel: 'request.queryParams["page"] == "2"' })).to.equal(1);
  });

  it('calls nothing undecided that the change does not touch', async () => {
    await put('tenant', { match: { path: '/cart', headers: [{ name: 'x-tenant', value: 'a' }] }, ...answers(203) });
    const { id } = await write('POST', '/snapshots', { name: 'second' });
    await write('POST', `/snapshots/${id}/activate`);
    note('/cart');
    await put('far', { match: { path: '/far' }, ...answers(203) });
    expect(await replayed()).to.include({ requests: 1, same: 1 });
    await put('tenant', { match: { path: '/cart', headers: [{ name: 'x-tenant', value: 'b' }] }, ...answers(203) });
    expect((await replayed()).undecided).to.deep.equal([{ needs: 'header x-tenant', requests: 1 }]);
  });

  it('replays the newest requests for which an expression is true', async () => {
    for (let i = 0; i < 600; i++) note(i % 2 === 0 ? '/cart' : '/other');
    expect(await replayed({ where: 'path == "/cart"' })).to.include({ requests: 300, same: 300 });
    expect(await replayed({ limit: 511 })).to.include({ requests: 511 });
  });

  it('refuses what is no question, and names the field', async () => {
    for (const [body, message] of [
      [{ from: 7 }, '/from must be a string'],
      [{ replay: [] }, '/replay must be an object or null'],
      [{ replay: { where: 1 } }, '/replay/where must be a string'],
    ] as const)
      expect(await refusal(body)).to.deep.equal([400, message]);
    for (const limit of [0, 10_001, 1.5, '5'])
      expect(await refusal({ replay: { limit } }), String(limit)).to.deep.equal([
        400,
        '/replay/limit must be an integer from 1 to 10000',
      ]);
    for (const limit of [1, 10_000]) expect((await replayed({ limit })).requests).to.equal(0);
    expect((await refusal({ replay: { where: 'path' } }))[1]).to.match(/^\/replay\/where: cel: must be a bool/);
    expect((await refusal({ to: 'none' }))[0]).to.equal(404);
    const { status, headers } = await server.call('POST', '/diff', { body: { form: 'active', replay: { most: 1 } } });
    expect([status, headers.warning]).to.deep.equal([
      200,
      '299 sluice "unknown field /form", 299 sluice "unknown field /replay/most"',
    ]);
  });

  it('creates everything where nothing is active', async () => {
    const empty = await ApiServer.start();
    await empty.call('POST', '/routes', { body: { id: 'r', name: 'r', match: { path: '/' }, ...answers(200) } });
    const { json } = await empty.call('POST', '/diff', { body: { replay: {} } });
    await empty.stop();
    const { from, entities, replay } = json as {
      from: null;
      entities: { created: { id: string }[] };
      replay: ReplayReport;
    };
    expect([from, entities.created.map(({ id }) => id), replay.requests]).to.deep.equal([null, ['r'], 0]);
  });

  it('shows no value of a secret', async () => {
    await write('POST', '/secrets', { id: 's', name: 's', value: canary });
    const secret = '{{secret:value:s}}';
    await put('hidden', {
      match: { path: `/${secret}`, headers: [{ name: 'x-kind', value: secret }] },
      ...answers(202),
    });
    await put('asked', { match: { path: '/cart', cel: `request.headers["${secret}"] == "a"` }, ...answers(202) });
    note(`/${canary}`, { kind: canary });
    note('/cart');
    const { replay, text } = await diff({ replay: {} });
    expect(replay.moved.map(({ from, to }) => [from?.id, to?.id])).to.deep.equal([['all', 'hidden']]);
    expect(replay.undecided).to.deep.equal([{ needs: 'header ***', requests: 1 }]);
    expect(text.toUpperCase()).to.not.contain(canary);
  });
});
