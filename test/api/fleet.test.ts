// fleet.md §3–§6 over a real API: streams that introduce themselves, acknowledgements, the list, and waiting.

import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { FleetView } from '../../src/model/answers/fleet-answers.ts';
import { configDigest } from '../../src/model/config-digest.ts';
import { ApiServer } from '../support/api-server.ts';
import { eventually } from '../support/eventually.ts';
import { body } from '../support/resources.ts';

describe('the fleet', () => {
  let api: ApiServer;
  const open: IncomingMessage[] = [];
  const keys = (['admin', 'editor', 'viewer', 'proxy'] as const).map((role) => ({ name: role, key: role, role }));
  const admin = { key: 'admin' };
  const proxy = { key: 'proxy' };

  beforeEach(async () => {
    api = await ApiServer.start({ options: { apiKeys: keys } });
  });

  afterEach(async () => {
    for (const response of open.splice(0)) response.destroy();
    await api.stop();
  });

  async function follow(headers: Record<string, string> = {}) {
    const all = { authorization: 'Bearer proxy', ...headers };
    const request = get(`${api.base}/api/v1/sync/snapshot`, { agent: false, headers: all });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    open.push(response);
    const events: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (event) => events.push(event) });
    response.setEncoding('utf8').on('data', (chunk: string) => parser.feed(chunk));
    return { response, events, token: String(response.headers['x-sluice-ack']) };
  }

  const introduced = (id: string, more: Record<string, string> = {}) =>
    follow({ 'x-sluice-proxy': id, 'x-sluice-boot': 'boot', 'x-sluice-labels': 'site=fra', ...more });

  const fleet = async (): Promise<FleetView> => (await api.call('GET', '/fleet', { key: 'viewer' })).json as FleetView;

  async function capture(name: string): Promise<string> {
    const { headers } = await api.call('POST', '/snapshots', { ...admin, body: { name } });
    return headers.location?.slice('/api/v1'.length) ?? '';
  }

  const word = (token: string, index: number, more: object = {}) => ({
    token,
    boot: 'boot',
    index,
    sha256: 'f'.repeat(64),
    of: 'stable',
    state: 'installed',
    tookMs: 2,
    problems: [],
    listeners: [{ id: 'l', state: 'waiting', reason: 'EADDRINUSE' }],
    ...more,
  });

  it('marks secret strings for proxies with a hello, and sends strangers the plain configuration', async () => {
    await api.call('POST', '/secrets', { ...admin, body: body('secrets', 's', { id: 's' }) });
    const spec = body('routes', 'r', { id: 'r', directResponse: { status: 200, body: '{{secret:value:s}}' } });
    await api.call('POST', '/routes', { ...admin, body: body('routes', 'a', { id: 'a' }) });
    await api.call('POST', '/routes', { ...admin, body: spec });
    await api.call('POST', `${await capture('v')}/activate`, admin);
    const [stranger, own] = [await follow(), await introduced('p')];
    await eventually(() => expect([stranger.events.length, own.events.length]).to.deep.equal([1, 1]));
    const [plain, marked] = [stranger, own].map(({ events }) => JSON.parse(events[0]?.data ?? ''));
    expect(plain).to.have.keys('id', 'name', 'createdAt', 'snapshot');
    expect(marked).to.deep.equal({ ...plain, secrets: ['/snapshot/routes/1/directResponse/body'] });
    expect(stranger.response.headers).not.to.have.any.keys('x-sluice-ack', 'x-sluice-node');
    expect(own.response.headers).to.include({ 'x-sluice-node': 'single' });
  });

  it('does not send again what a proxy has of this cluster', async () => {
    const { headers } = await api.call('POST', `${await capture('v')}/activate`, admin);
    const first = await introduced('p');
    await eventually(() => expect(first.events).to.have.length(1));
    const { snapshot, id } = JSON.parse(first.events[0]?.data ?? '');
    const sha256 = configDigest(snapshot);
    const cluster = String(first.response.headers['x-sluice-cluster']);
    const has = (clusterId: string, digest: string) =>
      introduced('q', { 'x-sluice-has': `${clusterId} 1 ${digest}`, 'x-sluice-boot': digest.slice(0, 4) + clusterId });
    const [same, other, foreign] = [
      await has(cluster, sha256),
      await has(cluster, 'a'.repeat(64)),
      await has('x', sha256),
    ];
    await eventually(() => expect([same, other, foreign].map(({ events }) => events.length)).to.deep.equal([1, 1, 1]));
    expect([same, other, foreign].map(({ events }) => events[0]?.event)).to.deep.equal([
      'current',
      'snapshot',
      'snapshot',
    ]);
    const index = Number(headers['x-sluice-revision']);
    expect(same.events[0]?.id).to.equal(String(index));
    expect(JSON.parse(same.events[0]?.data ?? '')).to.deep.equal({ index, id, sha256 });
  });

  it('lists proxies with what they acknowledge and report, and those that have left until they are deleted', async () => {
    const { headers } = await api.call('POST', `${await capture('v')}/activate`, admin);
    const index = Number(headers['x-sluice-revision']);
    await follow();
    const { token, response } = await introduced('p');
    expect((await fleet()).summary).to.deep.include({ total: 1, behind: 1 });
    for (const path of ['/sync/ack', '//sync/ack'])
      expect((await api.call('POST', path, { ...proxy, body: word(token, index) })).status).to.equal(204);
    const report = { token, boot: 'boot', window: [] };
    expect((await api.call('POST', '/sync/report', { ...proxy, body: report })).status).to.equal(204);
    const list = await fleet();
    expect(list).to.deep.include({ anonymous: 1, unreachableNodes: [] });
    expect(list.proxies[0]).to.deep.include({
      id: 'p',
      state: 'current',
      labels: { site: 'fra' },
      listeners: [{ id: 'l', state: 'waiting', reason: 'EADDRINUSE' }],
    });
    expect((await api.call('GET', '/fleet/p', { key: 'viewer' })).json).to.deep.include({ id: 'p', state: 'current' });
    expect((await api.call('DELETE', '/fleet/p', { key: 'editor' })).status).to.equal(409);
    response.destroy();
    await eventually(async () => expect((await fleet()).proxies[0]?.state).to.equal('disconnected'));
    expect((await api.call('POST', '/sync/ack', { ...proxy, body: word(token, index) })).status).to.equal(409);
    expect((await api.call('DELETE', '/fleet/p', { key: 'viewer' })).status).to.equal(403);
    expect((await api.call('DELETE', '/fleet/p', { key: 'editor' })).status).to.equal(204);
    expect((await api.call('DELETE', '/fleet/p', { key: 'editor' })).status).to.equal(404);
    expect((await api.call('GET', '/fleet/p', { key: 'viewer' })).status).to.equal(404);
    expect((await fleet()).summary.total).to.equal(0);
  });

  it('takes acknowledgements only from callers with the right to follow, and only well-formed ones', async () => {
    const { token } = await introduced('p');
    for (const key of ['editor', 'viewer'])
      expect((await api.call('POST', '/sync/ack', { key, body: word(token, 1) })).status).to.equal(403);
    expect((await api.call('GET', '/fleet', proxy)).status).to.equal(403);
    for (const wrong of [{ index: 'x' }, { state: 'fine' }, { token: 7 }, { problems: 'none' }])
      expect((await api.call('POST', '/sync/ack', { ...proxy, body: word(token, 1, wrong) })).status).to.equal(400);
    expect((await api.call('POST', '/sync/report', { ...proxy, body: { token, boot: 'boot' } })).status).to.equal(400);
    expect((await api.call('POST', '/sync/ack', { ...proxy, body: word('unknown', 1) })).status).to.equal(409);
    const answered = async (body: object, as: object = proxy) =>
      (await api.call('POST', '/sync/answer', { ...as, body })).status;
    expect(await answered({ token, boot: 'boot', id: 1 }, { key: 'editor' })).to.equal(403);
    expect(await answered({ token, boot: 'boot', id: -1 })).to.equal(400);
    expect(await answered({ token, boot: 'other', id: 1 })).to.equal(409);
    expect(await answered({ token, boot: 'boot', id: 1, answer: 'malformed' })).to.equal(204);
  });

  it('deals leases of rate limits to proxies that follow, and reads only well-formed reports', async () => {
    const { token } = await introduced('p');
    const line = { key: 'k', share: 0, level: 0, back: 0, want: 3, used: 0 };
    const limit = { id: 'l', requestsPerSecond: 1, burst: 10, keys: [line] };
    const report = (more: object = {}) => ({ token, boot: 'boot', seq: 1, limits: [limit], ...more });
    const send = (body: object) => api.call('POST', '/sync/leases', { ...proxy, body });
    for (const key of ['editor', 'viewer'])
      expect((await api.call('POST', '/sync/leases', { key, body: report() })).status).to.equal(403);
    const rows: [body: object, status: number, message: string | RegExp][] = [
      [{ seq: -1 }, 400, '/seq must be a non-negative integer'],
      [{ limits: {} }, 400, '/limits must be a list of objects'],
      [{ limits: [{ ...limit, burst: 0 }] }, 400, '/limits/0/burst must be above 0'],
      [{ limits: [{ ...limit, keys: [{ ...line, want: '1' }] }] }, 400, /^\/limits\/0\/keys\/0\/want must be/],
      [{ limits: [{ ...limit, keys: Array.from({ length: 1_001 }, () => line) }] }, 400, /at most 1000 entries/],
      [{ token: 'unknown' }, 409, /open the stream anew/],
      [{ boot: 'other' }, 409, /open the stream anew/],
    ];
    for (const [more, status, message] of rows) {
      const answer = await send(report(more));
      expect(answer.status, JSON.stringify(answer.json)).to.equal(status);
      expect((answer.json as { error: string }).error).to.match(
        typeof message === 'string' ? new RegExp(`^${message}$`) : message,
      );
    }
    const { status, json } = await send(report());
    const grant = { key: 'k', share: 6, grant: 6, left: 4, state: 'granted', waitMs: 50 };
    expect([status, json]).to.deep.equal([200, { paceMs: 250, limits: [{ id: 'l', keys: [grant] }] }]);
    expect((await send(report())).status, 'the same once more').to.equal(409);
    const strict = await api.call('POST', '/sync/leases?fieldValidation=Strict', {
      ...proxy,
      body: report({ seq: 2, color: 1 }),
    });
    expect(strict.status).to.equal(400);
  });

  it('names the fields of their words that it does not know', async () => {
    const { token } = await introduced('p');
    const problem = { pointer: '', message: 'm', color: 1 };
    const ack = word(token, 1, { problems: [problem], listeners: null, 'a/b': 1 });
    const numbers = { requests: 1, serverErrors: 0, clientErrors: 0, proxyErrors: 0 };
    const report = { token, boot: 'boot', window: [{ of: 'stable', ...numbers, speed: 2 }] };
    const rows: [path: string, body: object, pointers: string[]][] = [
      ['/sync/ack', ack, ['/problems/0/color', '/a~1b']],
      ['/sync/report', report, ['/window/0/speed']],
      ['/sync/answer', { token, boot: 'boot', id: 1, answer: {}, speed: 2 }, ['/speed']],
    ];
    for (const [path, said, pointers] of rows) {
      const send = (query: string) => api.call('POST', `${path}${query}`, { ...proxy, body: said });
      const warned = await send('');
      expect(warned.status, warned.text).to.equal(204);
      for (const pointer of pointers) expect(warned.headers.warning).to.contain(`unknown field ${pointer}`);
      expect((await send('?fieldValidation=ignore')).headers).to.not.have.property('warning');
      expect(await send('?fieldValidation=strict')).to.include({ status: 400 });
      expect(await send('?fieldValidation=maybe')).to.include({ status: 400 });
    }
  });

  describe('that an activation waits for', () => {
    const activate = async (path: string, query: string) => await api.call('POST', `${path}/activate?${query}`, admin);

    it('answers when all have it', async () => {
      const path = await capture('v');
      const { token, events } = await introduced('p');
      const answer = activate(path, 'wait=all&timeout=20s');
      await eventually(() => expect(events).to.have.length(1));
      await api.call('POST', '/sync/ack', { ...proxy, body: word(token, Number(events[0]?.id)) });
      const { status, json } = await answer;
      expect(status).to.equal(200);
      expect(json).to.have.property('active', true);
      expect(json).to.have.nested.property('convergence.installed', 1);
      expect((json as { convergence: object }).convergence).to.deep.include({
        wanted: 1,
        refused: 0,
        pending: 0,
        pendingProxies: [],
        refusals: [],
      });
    });

    it('answers when one refuses, and says why', async () => {
      const path = await capture('v');
      const { token, events } = await introduced('p');
      await introduced('q');
      const answer = activate(path, 'wait=50%25&timeout=20s');
      await eventually(() => expect(events).to.have.length(1));
      const problems = [{ pointer: '/routes/r/match/cel', message: 'no' }];
      const refused = word(token, Number(events[0]?.id), { state: 'refused', problems });
      await api.call('POST', '/sync/ack', { ...proxy, body: refused });
      const { status, json } = await answer;
      expect(status).to.equal(200);
      expect((json as { convergence: object }).convergence).to.deep.include({
        wanted: 1,
        installed: 0,
        refused: 1,
        pending: 1,
        pendingProxies: ['q'],
        refusals: [{ proxy: 'p', problems }],
      });
    });

    it('answers after the timeout with the proxies that have not acknowledged', async () => {
      const path = await capture('v');
      await introduced('p');
      const { json } = await activate(path, 'wait=1&timeout=50ms');
      expect((json as { convergence: object }).convergence).to.deep.include({ wanted: 1, pendingProxies: ['p'] });
      expect((await activate(path, '')).json).not.to.have.property('convergence');
    });

    it('is refused with a parameter that is none, before anything happens', async () => {
      const path = await capture('v');
      for (const query of [
        'wait=most',
        'wait=',
        'wait',
        'wait=all&timeout=61s',
        'wait=all&timeout=0s',
        'wait=1&wait=2',
      ])
        expect((await activate(path, query)).status, query).to.equal(400);
      expect((await api.call('GET', '/snapshots', admin)).json).to.have.nested.property('[0].active', false);
    });
  });
});
