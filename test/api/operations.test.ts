import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';
import { body, editableKinds, shown } from '../support/resources.ts';

// contract.md §3.3, row by row.
describe('operations', () => {
  let api: ApiServer;

  before(async () => {
    api = await ApiServer.start();
  });

  after(() => api.stop());

  for (const kind of editableKinds) {
    describe(`on ${kind}`, () => {
      it('GET of the collection answers 200 with a bare array, empty at first', async () => {
        const answer = await api.call('GET', `/${kind}`);
        expect({ status: answer.status, text: answer.text }).to.deep.equal({ status: 200, text: '[]' });
      });

      it('POST answers 201 with the entity, its path and its revision', async () => {
        const answer = await api.call('POST', `/${kind}`, { body: body(kind, 'one', { id: 'one' }) });
        expect(answer.status).to.equal(201);
        expect(answer.json).to.deep.equal(shown(kind, 'one', 'one'));
        expect(answer.headers.location).to.equal(`/api/v1/${kind}/one`);
        expect(answer.headers.etag).to.equal(`"${answer.headers['x-sluice-revision']}"`);
        expect(answer.headers['content-type']).to.equal('application/json');
      });

      it('POST assigns a lower-case UUID when the body has no id', async () => {
        const { json } = await api.call('POST', `/${kind}`, { body: body(kind, 'two') });
        expect(json)
          .to.have.property('id')
          .that.matches(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      });

      it('POST answers 400 for a body without a name, and 409 for a taken name or id', async () => {
        const { name: _, ...nameless } = body(kind, 'x');
        expect(await api.call('POST', `/${kind}`, { body: nameless })).to.include({ status: 400 });
        expect(await api.call('POST', `/${kind}`, { body: body(kind, 'one') })).to.include({ status: 409 });
        expect(await api.call('POST', `/${kind}`, { body: body(kind, 'x', { id: 'one' }) })).to.include({
          status: 409,
        });
      });

      it('GET of one answers 200 with the entity and its ETag, HEAD with the headers alone', async () => {
        const got = await api.call('GET', `/${kind}/one`);
        const value = kind === 'secrets' ? { value: 'CANARY' } : {};
        expect(got.status).to.equal(200);
        expect(got.json).to.deep.equal({ ...shown(kind, 'one', 'one'), ...value });
        expect(got.headers.etag).to.match(/^"\d+"$/);
        const head = await api.call('HEAD', `/${kind}/one`);
        expect(head).to.include({ status: 200, text: '' });
        expect(head.headers).to.include({ etag: got.headers.etag, 'content-type': 'application/json' });
      });

      it('PUT answers 200 with the whole new entity; the id of the path wins', async () => {
        const answer = await api.call('PUT', `/${kind}/one`, { body: body(kind, 'renamed', { id: 'other' }) });
        expect(answer.status).to.equal(200);
        expect(answer.json).to.deep.equal(shown(kind, 'one', 'renamed'));
        expect(answer.headers.etag).to.equal(`"${answer.headers['x-sluice-revision']}"`);
        expect(await api.call('GET', `/${kind}/other`)).to.include({ status: 404 });
      });

      it('PUT refuses an id of the wrong type, beside the other faults of its body', async () => {
        for (const id of [5, true, {}, ['one']]) {
          const answer = await api.call('PUT', `/${kind}/one`, { body: body(kind, '', { id }) });
          expect(answer.status, JSON.stringify(id)).to.equal(400);
          expect(answer.text).to.contain('/id ').and.to.contain('/name ');
        }
        for (const id of [null, '', 'no id of ours'])
          expect(await api.call('PUT', `/${kind}/one`, { body: body(kind, 'one', { id }) })).to.include({
            status: 200,
          });
      });

      it('PUT keeps its own name, answers 409 for the name of another, 404 for an unknown id', async () => {
        expect(await api.call('PUT', `/${kind}/one`, { body: body(kind, 'renamed') })).to.include({ status: 200 });
        expect(await api.call('PUT', `/${kind}/one`, { body: body(kind, 'two') })).to.include({ status: 409 });
        expect(await api.call('PUT', `/${kind}/none`, { body: body(kind, 'x') })).to.include({ status: 404 });
      });

      it('lists ascending by id', async () => {
        await api.call('POST', `/${kind}`, { body: body(kind, 'early', { id: '-' }) });
        await api.call('POST', `/${kind}`, { body: body(kind, 'late', { id: '~' }) });
        const { json } = await api.call('GET', `/${kind}`);
        const ids = Array.isArray(json) ? json.map(({ id }) => id) : [];
        expect(ids).to.have.length(4);
        expect(ids).to.deep.equal([...ids].sort());
      });

      it('DELETE answers 204 without a body, then 404', async () => {
        const answer = await api.call('DELETE', `/${kind}/one`);
        expect(answer).to.include({ status: 204, text: '' });
        expect(answer.headers).to.have.property('x-sluice-revision');
        expect(answer.headers).to.not.have.any.keys('content-type', 'etag');
        expect(await api.call('DELETE', `/${kind}/one`)).to.include({ status: 404 });
        expect(await api.call('GET', `/${kind}/one`)).to.include({ status: 404 });
      });
    });
  }

  describe('on snapshots', () => {
    let id: string;

    it('POST answers 201 with the full snapshot', async () => {
      const answer = await api.call('POST', '/snapshots', { body: { name: 'first' } });
      expect(answer.status).to.equal(201);
      expect(answer.json).to.have.all.keys('id', 'name', 'createdAt', 'snapshot', 'warnings');
      expect(answer.json)
        .to.have.property('snapshot')
        .that.has.all.keys('listeners', 'routes', 'groups', 'destinations', 'middlewares', 'streamRoutes', 'consumers');
      id = answer.headers.location?.split('/').at(-1) ?? '';
      expect(answer.json).to.include({ id, name: 'first' });
    });

    it('POST ignores an id, and answers 400 without a name, 409 for a taken one', async () => {
      const answer = await api.call('POST', '/snapshots', { body: { name: 'second', id } });
      expect(answer.status).to.equal(201);
      expect(answer.json).to.have.property('id').that.does.not.equal(id);
      expect(answer.headers).to.not.have.property('warning');
      expect(await api.call('POST', '/snapshots', { body: {} })).to.include({ status: 400 });
      expect(await api.call('POST', '/snapshots', { body: { name: 'first' } })).to.include({ status: 409 });
    });

    it('GET of one answers the same bytes every time, warnings left out', async () => {
      const [one, two] = [await api.call('GET', `/snapshots/${id}`), await api.call('GET', `/snapshots/${id}`)];
      expect(one.status).to.equal(200);
      expect(one.text).to.equal(two.text);
      expect(one.json).to.have.all.keys('id', 'name', 'createdAt', 'snapshot');
      expect(one.headers.etag).to.match(/^"\d+"$/);
    });

    it('activate answers 200 with the summary and what is installed', async () => {
      const answer = await api.call('POST', `/snapshots/${id}/activate`);
      expect(answer.status).to.equal(200);
      expect(answer.json).to.include({ id, name: 'first', active: true }).and.have.property('createdAt');
      expect(answer.headers).to.include({ 'x-sluice-installed': '2/2' });
    });

    it('GET of the collection answers summaries, ascending by creation, one of them active', async () => {
      const { json } = await api.call('GET', '/snapshots');
      expect(json).to.have.length(2);
      expect(json).to.have.nested.property('[0].id', id);
      expect(json).to.have.nested.property('[0].active', true);
      expect(json).to.have.nested.property('[1].active', false);
      expect(json).to.have.property('0').that.has.all.keys('id', 'name', 'createdAt', 'active');
    });

    it('DELETE answers 409 for the active one, 204 for another, and frees its name', async () => {
      expect(await api.call('DELETE', `/snapshots/${id}`)).to.include({ status: 409 });
      const { headers } = await api.call('POST', '/snapshots', { body: { name: 'third' } });
      const path = headers.location?.slice('/api/v1'.length) ?? '';
      expect(await api.call('DELETE', path)).to.include({ status: 204 });
      expect(await api.call('GET', path)).to.include({ status: 404 });
      expect(await api.call('POST', '/snapshots', { body: { name: 'third' } })).to.include({ status: 201 });
    });

    it('DELETE names fields of a body, which it has none of', async () => {
      await api.call('POST', '/snapshots', { body: { id: 'spare', name: 'spare' } });
      const { json } = await api.call('GET', '/snapshots');
      const { id = '' } = (json as { id: string; name: string }[]).find(({ name }) => name === 'spare') ?? {};
      const strict = await api.call('DELETE', `/snapshots/${id}?fieldValidation=strict`, { body: { force: true } });
      expect(strict.status).to.equal(400);
      expect(strict.text).to.contain('/force');
      const { status, headers } = await api.call('DELETE', `/snapshots/${id}`, { body: { force: true } });
      expect(status).to.equal(204);
      expect(headers.warning).to.contain('/force');
    });

    it('answers 404 for an unknown id', async () => {
      for (const [method, path] of [
        ['GET', '/snapshots/none'],
        ['DELETE', '/snapshots/none'],
        ['POST', '/snapshots/none/activate'],
      ] as const) {
        expect(await api.call(method, path), `${method} ${path}`).to.include({ status: 404 });
      }
    });
  });

  describe('that delete', () => {
    for (const path of ['/keys/none', '/fleet/none', '/cluster/members/none'])
      it(`answer 400 for a body that is no object: ${path.replace(/[^/]*$/, '')}`, async () => {
        const { status, text } = await api.call('DELETE', path, { body: [1] });
        expect(status, text).to.equal(400);
      });
  });
});
