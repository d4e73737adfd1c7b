import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import { type Clock, systemClock } from '../../src/util/clock.ts';
import { ApiServer } from '../support/api-server.ts';
import { eventually } from '../support/eventually.ts';
import { followStream } from '../support/request-stream.ts';
import { body } from '../support/resources.ts';

const count = 20_001;
const upsert = (n: number, more: object = {}) => ({
  ...{ op: 'upsert', kind: 'groups', id: `g${n}` },
  body: body('groups', `g${n}`, more),
});
const upserts = (more: object = {}) => Array.from({ length: count }, (_, n) => upsert(n, more));

describe('POST /batch/large', function () {
  this.timeout(60_000);
  let api: ApiServer;
  beforeEach(async () => {
    api = await ApiServer.start();
  });
  afterEach(() => api.stop());

  const groups = async () => (await api.call('GET', '/groups')).json as { pathPrefix?: string }[];

  it('writes at one revision, counts what changed, and answers a repetition as the first time', async () => {
    const stream = await followStream(`${api.base}/api/v1/events`, {});
    const headers = { 'idempotency-key': 'k' };
    const first = await api.call('POST', '/batch/large', { headers, body: { operations: upserts() } });
    expect(first.status, first.text).to.equal(200);
    const { index } = first.json as { index: number };
    expect(first.json).to.deep.equal({ index, changed: count, warnings: [] });
    expect(first.headers.etag).to.equal(`"${index}"`);
    const again = await api.call('POST', '/batch/large', { headers, body: { operations: upserts() } });
    expect(again.json).to.deep.equal(first.json);
    await eventually(() => expect(stream.events).to.have.length(1));
    expect(stream.events[0]?.data).to.deep.include({ index, more: count - 100 });
    stream.close();
    const next = await api.call('POST', '/batch/large', {
      body: { operations: [...upserts().slice(1), upsert(0, { pathPrefix: '/new' })] },
    });
    expect(next.json).to.deep.include({ changed: 1 });
  });

  it('leaves an entity that it writes as it was its revision, which its If-Match names', async () => {
    const sent = (...more: object[]) => ({ operations: [...more, upsert(count)] });
    const first = await api.call('POST', '/batch', { body: sent() });
    const { results } = first.json as { results: readonly { etag: string }[] };
    const fence = { ...upsert(count), ifMatch: results[0]?.etag };
    for (const path of ['/batch/large', '/batch']) {
      const operations = path === '/batch' ? [fence] : [...upserts(), fence];
      const { status, text } = await api.call('POST', path, { body: { operations } });
      expect(status, text).to.equal(200);
    }
  });

  it('refuses a body that comes in too slowly where another one needs its room', async () => {
    let aheadMs = 0;
    const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
    const other = await ApiServer.start({ clock });
    const { port } = other.api.address;
    const slow = request({ port, path: '/api/v1/batch/large', method: 'POST', headers: { 'content-length': 2 ** 27 } });
    try {
      const answered = once(slow, 'response') as Promise<[IncomingMessage]>;
      slow.on('error', () => undefined).flushHeaders();
      const send = () => other.call('POST', '/batch/large', { body: { operations: [] } });
      await eventually(async () => expect(await send()).to.include({ status: 503 }));
      aheadMs = 3_000;
      expect((await send()).text).to.not.contain('too many large batches');
      const [response] = await answered;
      expect(response.statusCode).to.equal(503);
      expect(JSON.parse((await response.toArray()).join(''))).to.deep.equal({
        error: 'the body came in too slowly, and others waited',
        outcome: 'not-applied',
      });
    } finally {
      slow.destroy();
      await other.stop();
    }
  });

  it('leaves nothing of a batch whose last operation is refused', async () => {
    const refused = { ...upsert(count), op: 'update' };
    const { status, json } = await api.call('POST', '/batch/large', { body: { operations: [...upserts(), refused] } });
    expect(status).to.equal(404);
    expect(json).to.deep.include({ operation: count });
    expect(await groups()).to.deep.equal([]);
  });

  it('captures what it leaves, and a dry run counts without a change', async () => {
    const dry = await api.call('POST', '/batch/large?dryRun=true', { body: { operations: upserts() } });
    expect(dry.json).to.deep.include({ changed: count, problems: [] });
    expect((dry.json as { entities: { created: unknown[] } }).entities.created).to.have.length(count);
    expect(await groups()).to.deep.equal([]);
    const live = await api.call('POST', '/batch/large', {
      body: { operations: upserts(), snapshot: { name: 'v1', activate: true } },
    });
    expect(live.json).to.deep.include({ changed: count });
    expect((live.json as { snapshot: object }).snapshot).to.include({ name: 'v1', active: true });
  });

  it('is refused beyond its limits, which the error names', async () => {
    const many = await api.call('POST', '/batch/large', { body: `{"operations":[${'1,'.repeat(200_000)}1]}` });
    expect(many).to.include({ status: 413 });
    expect(many.json).to.deep.equal({ error: 'a batch takes at most 200000 operations' });
  });

  it('names other owners whose entities it changes', async () => {
    await api.call('POST', '/groups', { body: body('groups', 'g0', { id: 'g0', owner: 'team-pay' }) });
    const sent = { operations: upserts({ pathPrefix: '/new' }), owner: 'team-shop' };
    const { json } = await api.call('POST', '/batch/large', { body: sent });
    const { warnings } = json as { warnings: { pointer: string }[] };
    expect(warnings.map(({ pointer }) => pointer)).to.deep.equal(['/groups/g0/owner']);
  });
});
