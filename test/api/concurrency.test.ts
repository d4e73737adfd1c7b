import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';
import { body } from '../support/resources.ts';

// architecture.md §6.4, §6.5 and §8: revisions, preconditions, repeated requests.
describe('revisions and repetitions', () => {
  let api: ApiServer;

  beforeEach(async () => {
    api = await ApiServer.start();
  });

  afterEach(() => api.stop());

  const create = (name: string, headers: Record<string, string> = {}) =>
    api.call('POST', '/groups', { body: body('groups', name, { id: name }), headers });

  describe('If-Match', () => {
    it('lets a change through that names the current revision or *, and answers 412 otherwise', async () => {
      const { headers } = await create('a');
      const etag = headers.etag ?? '';
      const put = (ifMatch: string) =>
        api.call('PUT', '/groups/a', { body: body('groups', 'a'), headers: { 'if-match': ifMatch } });
      const changed = await put(etag);
      expect(changed.status).to.equal(200);
      expect(changed.headers.etag).to.not.equal(etag);
      expect(await put(etag)).to.include({ status: 412 });
      expect(await put('W/"1"')).to.include({ status: 412 });
      expect(await put(`"0", ${changed.headers.etag}`)).to.include({ status: 200 });
      expect(await put('*')).to.include({ status: 200 });
      expect(await put('seven')).to.include({ status: 400 });
    });

    it('guards DELETE and activate too', async () => {
      await create('a');
      const stale = { 'if-match': '"0"' };
      expect(await api.call('DELETE', '/groups/a', { headers: stale })).to.include({ status: 412 });
      const { headers } = await api.call('POST', '/snapshots', { body: { name: 's' } });
      const path = headers.location?.slice('/api/v1'.length) ?? '';
      expect(await api.call('POST', `${path}/activate`, { headers: stale })).to.include({ status: 412 });
      const current = { 'if-match': headers.etag ?? '' };
      expect(await api.call('POST', `${path}/activate`, { headers: current })).to.include({ status: 200 });
      expect(await api.call('DELETE', path, { headers: stale })).to.include({ status: 412 });
      expect(await api.call('DELETE', '/groups/a', { headers: { 'if-match': '*' } })).to.include({ status: 204 });
    });
  });

  describe('If-None-Match', () => {
    it('keeps a client that only creates from overwriting or deleting an entity', async () => {
      const { headers } = await create('a');
      const path = '/groups/a';
      for (const [method, sent] of [
        ['PUT', body('groups', 'b')],
        ['DELETE', undefined],
      ] as const) {
        for (const tag of ['*', headers.etag ?? '']) {
          const answer = await api.call(method, path, { body: sent, headers: { 'if-none-match': tag } });
          expect(answer.status, `${method} ${tag}`).to.equal(412);
        }
      }
      const { headers: captured } = await api.call('POST', '/snapshots', { body: { name: 's' } });
      const snapshot = captured.location?.slice('/api/v1'.length) ?? '';
      const none = { headers: { 'if-none-match': '*' } };
      expect(await api.call('POST', `${snapshot}/activate`, none)).to.include({ status: 412 });
      expect(await api.call('DELETE', snapshot, none)).to.include({ status: 412 });
      expect((await api.call('GET', path)).headers.etag).to.equal(headers.etag);
      const other = { body: body('groups', 'b'), headers: { 'if-none-match': '"0"' } };
      expect(await api.call('PUT', path, other)).to.include({ status: 200 });
    });
  });

  describe('a parameter that holds something back', () => {
    it('is refused when it is empty, as a variable that is not set leaves it', async () => {
      const { headers } = await api.call('POST', '/snapshots', { body: { name: 's' } });
      const activate = `${headers.location?.slice('/api/v1'.length)}/activate`;
      const batch = { operations: [{ op: 'create', kind: 'groups', body: body('groups', 'a') }] };
      for (const query of ['dryRun', 'dryRun=']) {
        expect(await api.call('POST', `/batch?${query}`, { body: batch }), query).to.include({ status: 400 });
      }
      for (const query of ['confirmWithin=', 'force']) {
        expect(await api.call('POST', `${activate}?${query}`), query).to.include({ status: 400 });
      }
      expect(await api.call('POST', '/snapshots?strict=', { body: { name: 't' } })).to.include({ status: 400 });
      expect((await api.call('GET', '/groups')).text).to.equal('[]');
      expect((await api.call('GET', '/activations')).text).to.equal('[]');
    });
  });

  describe('X-Sluice-Revision', () => {
    it('grows with every write and is on every read', async () => {
      const first = Number((await create('a')).headers['x-sluice-revision']);
      const second = Number((await create('b')).headers['x-sluice-revision']);
      expect(second).to.be.greaterThan(first);
      for (const path of ['/groups', '/groups/a', '/snapshots', '/secrets', '/debug/config']) {
        const { headers } = await api.call('GET', path);
        expect(Number(headers['x-sluice-revision']), path).to.be.at.least(second);
      }
    });

    it('is on refusals of the state machine as well', async () => {
      await create('a');
      const { status, headers } = await create('a');
      expect(status).to.equal(409);
      expect(headers).to.have.property('x-sluice-revision');
    });
  });

  describe('reads', () => {
    it('wait for a revision that is named, and refuse one that is no number', async () => {
      const { headers } = await create('a');
      const revision = headers['x-sluice-revision'];
      for (const query of [
        `minRevision=${revision}`,
        `minRevision=${revision}&consistency=stale`,
        'consistency=linearizable',
        'minRevision=',
      ]) {
        expect(await api.call('GET', `/groups/a?${query}`), query).to.include({ status: 200 });
      }
      for (const query of [
        'minRevision=-1',
        'minRevision=x',
        'consistency=eventual',
        'consistency=stale&consistency=stale',
      ]) {
        expect(await api.call('GET', `/groups?${query}`), query).to.include({ status: 400 });
      }
    });

    it('see an earlier write of the same client a thousand times out of a thousand', async () => {
      for (let count = 0; count < 1000; count++) {
        const { headers } = await api.call('PUT', '/groups/a', { body: body('groups', `name-${count}`) });
        if (count === 0) await create('a');
        else expect((await api.call('GET', '/groups/a')).headers.etag).to.equal(headers.etag);
      }
    });
  });

  describe('Idempotency-Key', () => {
    const key = { 'idempotency-key': 'once' };

    it('answers a repetition as the first request: status, body, ETag and Location', async () => {
      const first = await api.call('POST', '/groups', { body: body('groups', 'a'), headers: key });
      await api.call('PUT', first.headers.location?.slice('/api/v1'.length) ?? '', { body: body('groups', 'changed') });
      const second = await api.call('POST', '/groups', { body: body('groups', 'a'), headers: key });
      expect(first.status).to.equal(201);
      expect(second).to.include({ status: 201, text: first.text });
      for (const name of ['etag', 'location', 'x-sluice-revision'] as const) {
        expect(second.headers[name], name).to.equal(first.headers[name]);
      }
      expect((await api.call('GET', '/groups')).json).to.have.length(1);
    });

    it('makes one resource of many requests at the same time', async () => {
      const sent = Array.from({ length: 20 }, () =>
        api.call('POST', '/groups', { body: body('groups', 'a'), headers: key }),
      );
      const answers = await Promise.all(sent);
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).to.equal(1);
      expect(answers[0]?.status).to.equal(201);
    });

    it('answers 422 when it comes back with another body, be it a blank', async () => {
      const text = JSON.stringify(body('groups', 'a'));
      expect(await api.call('POST', '/groups', { body: text, headers: key })).to.include({ status: 201 });
      expect(await api.call('POST', '/groups', { body: `${text} `, headers: key })).to.include({ status: 422 });
    });

    it('answers 422 when it comes back with a confirmation that the first request did not ask for', async () => {
      const [former, next] = await Promise.all(
        ['former', 'next'].map(async (name) => {
          const { json } = await api.call('POST', '/snapshots', { body: { name } });
          return (json as { id: string }).id;
        }),
      );
      await api.call('POST', `/snapshots/${former}/activate`);
      const activate = (query: string) => api.call('POST', `/snapshots/${next}/activate${query}`, { headers: key });
      expect(await activate('')).to.include({ status: 200 });
      expect(await activate('?confirmWithin=60s')).to.include({ status: 422 });
      expect(await activate('?wait=all')).to.include({ status: 200 });
    });

    it('belongs to one path', async () => {
      expect(await api.call('POST', '/groups', { body: body('groups', 'a'), headers: key })).to.include({
        status: 201,
      });
      expect(await api.call('POST', '/routes', { body: body('routes', 'a'), headers: key })).to.include({
        status: 201,
      });
    });

    it('never shows the value of a secret again', async () => {
      const send = () => api.call('POST', '/secrets', { body: body('secrets', 'a'), headers: key });
      const [first, second] = [await send(), await send()];
      expect(second).to.include({ status: 201, text: first.text });
      expect(second.text).to.not.contain('CANARY');
    });

    it('repeats a snapshot that could not be created any more', async () => {
      const send = () => api.call('POST', '/snapshots', { body: { name: 's' }, headers: key });
      const first = await send();
      await api.call('POST', '/routes', { body: body('routes', 'bad', { middlewareIds: ['none'] }) });
      const second = await send();
      expect(first.status).to.equal(201);
      expect(second).to.include({ status: 201, text: first.text });
      expect(second.headers.etag).to.equal(first.headers.etag);
      const other = await api.call('POST', '/snapshots', { body: { name: 't' }, headers: key });
      expect(other.status).to.equal(422);
    });

    it('repeats an activation without activating again', async () => {
      const [a, b] = [
        await api.call('POST', '/snapshots', { body: { name: 'a' } }),
        await api.call('POST', '/snapshots', { body: { name: 'b' } }),
      ].map(({ headers }) => headers.location?.slice('/api/v1'.length) ?? '');
      const first = await api.call('POST', `${a}/activate`, { headers: key });
      await api.call('POST', `${b}/activate`);
      const second = await api.call('POST', `${a}/activate`, { headers: key });
      expect(second).to.include({ status: 200, text: first.text });
      expect((await api.call('GET', '/snapshots')).json).to.have.nested.property('[1].active', true);
    });

    it('has 1 to 128 visible characters', async () => {
      for (const value of ['a b', 'x'.repeat(129), '']) {
        const headers = { 'idempotency-key': value };
        expect(await api.call('POST', '/groups', { body: body('groups', 'a'), headers })).to.include({ status: 400 });
      }
    });
  });
});
