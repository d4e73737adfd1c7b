import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';
import { body, editableKinds } from '../support/resources.ts';

// contract.md §11, rows about the API that other tests do not cover already: 3–13, 29 and 30.
describe('foreign clients', () => {
  let api: ApiServer;

  beforeEach(async () => {
    api = await ApiServer.start();
  });

  afterEach(() => api.stop());

  it('3: find the default address on a created listener', async () => {
    const { json } = await api.call('POST', '/listeners', { body: body('listeners', 'l') });
    expect(json).to.include({ address: '0.0.0.0' });
  });

  it('4: find the endpoints on a created destination', async () => {
    const endpoints = [{ host: '10.0.0.1', port: 81 }];
    const { json } = await api.call('POST', '/destinations', { body: body('destinations', 'd', { endpoints }) });
    expect(json).to.deep.include({ endpoints });
  });

  it('5: never find a value in answers about secrets but that of GET by id', async () => {
    const created = await api.call('POST', '/secrets', { body: body('secrets', 's', { id: 's' }) });
    const updated = await api.call('PUT', '/secrets/s', { body: body('secrets', 's') });
    const listed = await api.call('GET', '/secrets');
    for (const { text } of [created, updated, listed]) expect(text).to.not.contain('value').and.not.contain('CANARY');
    expect((await api.call('GET', '/secrets/s')).json).to.deep.equal({ id: 's', name: 's', value: 'CANARY' });
  });

  it('7: activate with no body, an empty one of JSON type, null or an object', async () => {
    const { headers } = await api.call('POST', '/snapshots', { body: { name: 's' } });
    const path = `${headers.location?.slice('/api/v1'.length)}/activate`;
    const json = { 'content-type': 'application/json' };
    for (const options of [{}, { headers: json }, { headers: json, body: '' }, { body: 'null' }, { body: '{}' }]) {
      const answer = await api.call('POST', path, options);
      expect(answer.json, JSON.stringify(options)).to.include({ active: true });
    }
    for (const text of ['[]', '{', '7'])
      expect(await api.call('POST', path, { body: text })).to.include({ status: 400 });
    expect((await api.call('POST', path, { body: '{"x":1}' })).headers.warning).to.contain('/x');
  });

  it('7: delete with an empty body of JSON type', async () => {
    for (const kind of editableKinds) {
      await api.call('POST', `/${kind}`, { body: body(kind, 'x', { id: 'x' }) });
      const headers = { 'content-type': 'application/json' };
      expect(await api.call('DELETE', `/${kind}/x`, { headers, body: '' }), kind).to.include({ status: 204 });
    }
  });

  it('9: send null lists, empty ids and unknown fields, and read about the latter', async () => {
    const answer = await api.call('POST', '/groups', {
      body: { id: '', name: 'g', routeIds: null, pathPrefix: '', color: 'red', headers: [{ name: 'x', flavour: 1 }] },
    });
    expect(answer.status).to.equal(201);
    expect(answer.json).to.have.all.keys('id', 'name', 'routeIds', 'headers');
    expect(answer.json).to.deep.include({ name: 'g', routeIds: [], headers: [{ name: 'x' }] });
    expect(answer.headers.warning).to.contain('unknown field /color').and.contain('unknown field /headers/0/flavour');
  });

  it('9: choose what becomes of unknown fields', async () => {
    const send = (query: string, name: string) => api.call('POST', `/groups${query}`, { body: { name, color: 'red' } });
    const strict = await send('?fieldValidation=strict', 'a');
    expect(strict.status).to.equal(400);
    expect(strict.json).to.deep.equal({ error: 'unknown field /color' });
    const ignored = await send('?fieldValidation=ignore', 'b');
    expect(ignored.status).to.equal(201);
    expect(ignored.headers).to.not.have.property('warning');
    expect(await send('?fieldValidation=maybe', 'c')).to.include({ status: 400 });
  });

  it('9: choose so for the log level too', async () => {
    const send = (query: string) => api.call('PUT', `/log-level${query}`, { body: { level: 'info', color: 'red' } });
    const strict = await send('?fieldValidation=strict');
    expect(strict.status).to.equal(400);
    expect(strict.json).to.deep.equal({ error: 'unknown field /color' });
    const ignored = await send('?fieldValidation=ignore');
    expect(ignored.status).to.equal(200);
    expect(ignored.headers).to.not.have.property('warning');
    expect((await send('')).headers.warning).to.contain('unknown field /color');
    expect(await send('?fieldValidation=maybe')).to.include({ status: 400 });
  });

  it('10: create a group of a name and a path', async () => {
    const { status, json } = await api.call('POST', '/groups', { body: { name: 'g', pathPrefix: '/x' } });
    expect(status).to.equal(201);
    expect(json).to.deep.include({ routeIds: [], pathPrefix: '/x' });
  });

  it('11: snapshot and activate a TLS listener whose text is no PEM', async () => {
    const tls = { cert: 'no certificate', key: 'no key' };
    expect(await api.call('POST', '/listeners', { body: body('listeners', 'l', { tls }) })).to.include({ status: 201 });
    const { status, headers } = await api.call('POST', '/snapshots', { body: { name: 's' } });
    expect(status).to.equal(201);
    const path = headers.location?.slice('/api/v1'.length);
    expect(await api.call('POST', `${path}/activate`)).to.include({ status: 200 });
  });

  it('13: find five lists, the active snapshot and the staged entities under debug/config', async () => {
    const five = ['listeners', 'destinations', 'routes', 'groups', 'middlewares'];
    const empty = await api.call('GET', '//debug/config');
    expect(empty.json)
      .to.have.all.keys(...five, 'snapshot', 'staged')
      .and.deep.include({ snapshot: null, routes: [] });
    await api.call('POST', '/secrets', { body: body('secrets', 's', { id: 's' }) });
    const text = 'a {{secret:value:s}} b';
    await api.call('POST', '/routes', {
      body: body('routes', 'r', { id: 'r', directResponse: { status: 200, body: text } }),
    });
    const { headers, json: created } = await api.call('POST', '/snapshots', { body: { name: 's' } });
    await api.call('POST', `${headers.location?.slice('/api/v1'.length)}/activate`);
    await api.call('DELETE', '/routes/r');
    const { json } = await api.call('GET', '/debug/config');
    expect(Object.keys(json as object)).to.deep.equal([...five, 'snapshot', 'staged']);
    expect(Object.keys((json as { staged: object }).staged)).to.deep.equal(five);
    expect(json).to.have.nested.include({ 'routes[0].directResponse.body': '***' });
    expect(json).to.deep.nested.include({ 'staged.routes': [] });
    const { id, createdAt } = created as { id: string; createdAt: string };
    expect(json).to.deep.include({ snapshot: { id, name: 's', createdAt } });
  });

  it('13: find references, not values, among the staged entities', async () => {
    const spec = body('routes', 'r', { directResponse: { status: 200, body: '{{secret:value:s}}' } });
    await api.call('POST', '/routes', { body: spec });
    const { json } = await api.call('GET', '/debug/config');
    expect(json).to.have.nested.include({ 'staged.routes[0].directResponse.body': '{{secret:value:s}}' });
  });

  it('29: name entities with colons, slashes and blanks, and find them by listing', async () => {
    const name = 'k8s:ns/name/rule-0/match-0 ü';
    for (const kind of editableKinds) {
      expect(await api.call('POST', `/${kind}`, { body: body(kind, name) })).to.include({ status: 201 });
      expect((await api.call('GET', `/${kind}`)).json, kind).to.have.nested.property('[0].name', name);
    }
  });

  it('30: delete in the order group, route, middleware, destination', async () => {
    await api.call('POST', '/destinations', { body: body('destinations', 'd', { id: 'd' }) });
    await api.call('POST', '/middlewares', { body: body('middlewares', 'm', { id: 'm' }) });
    const forward = { destinations: [{ destinationId: 'd' }] };
    const route = { id: 'r', name: 'r', forward, middlewareIds: ['m'] };
    await api.call('POST', '/routes', { body: route });
    await api.call('POST', '/groups', { body: body('groups', 'g', { id: 'g', routeIds: ['r'] }) });
    for (const path of ['/groups/g', '/routes/r', '/middlewares/m', '/destinations/d']) {
      expect(await api.call('DELETE', path), path).to.include({ status: 204 });
    }
  });
});
