// API keys of the cluster over the API (contract.md §3.11).
import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';
import { eventually } from '../support/eventually.ts';
import { followStream } from '../support/request-stream.ts';

interface Shown {
  readonly id: string | null;
  readonly name: string;
  readonly role: string;
  readonly source: string;
  readonly createdAt: string | null;
  readonly createdBy: string | null;
  readonly lastUsedAt: string | null;
}

const first = 'a'.repeat(32);
const viewer = 'v'.repeat(32);
const apiKeys = [
  { name: 'ops', key: first, role: 'admin' },
  { name: 'wall', key: viewer, role: 'viewer' },
] as const;

describe('API keys of the cluster', () => {
  let api: ApiServer;
  beforeEach(async () => {
    api = await ApiServer.start({ options: { apiKeys } });
  });
  afterEach(() => api.stop());

  const list = async (key: string = first): Promise<readonly Shown[]> => {
    const { status, json, text } = await api.call('GET', '/keys', { key });
    expect(status, text).to.equal(200);
    return json as Shown[];
  };
  const make = async (body: object, key: string = first): Promise<Shown & { readonly key: string }> => {
    const { status, json, text } = await api.call('POST', '/keys', { key, body });
    expect(status, text).to.equal(201);
    return json as Shown & { readonly key: string };
  };
  const whoami = (key: string) => api.call('GET', '/whoami', { key });

  it('are listed behind those of the settings, without themselves, with their last use', async () => {
    const { key, ...made } = await make({ name: 'deploy', role: 'editor' });
    expect(key).to.match(/^sluice_[\w-]{43}$/);
    expect(made).to.deep.include({ name: 'deploy', role: 'editor', source: 'cluster', createdBy: 'ops' });
    expect(Date.parse(made.createdAt ?? '')).to.be.closeTo(Date.now(), 60_000);
    expect(made.lastUsedAt).to.equal(null);
    const keys = await list();
    expect(keys.map(({ id, name, source }) => [id, name, source])).to.deep.equal([
      [null, 'ops', 'settings'],
      [null, 'wall', 'settings'],
      [made.id, 'deploy', 'cluster'],
    ]);
    expect(keys.map(({ lastUsedAt }) => lastUsedAt !== null)).to.deep.equal([true, false, false]);
    expect((await whoami(key)).json).to.deep.include({ name: 'deploy', role: 'editor' });
    const [, , used] = await list(viewer);
    expect(Date.parse(used?.lastUsedAt ?? '')).to.be.closeTo(Date.now(), 60_000);
    expect(JSON.stringify(await list())).to.not.include(key);
  });

  it('are rotated by a second one of the same name: both count until the old one is revoked', async () => {
    const old = await make({ name: 'deploy', role: 'editor' });
    const successor = await make({ name: 'deploy', role: 'editor' });
    for (const { key } of [old, successor]) expect((await whoami(key)).status).to.equal(200);
    expect((await api.call('DELETE', `/keys/${old.id}`, { key: first })).status).to.equal(204);
    expect((await whoami(old.key)).status).to.equal(401);
    expect((await whoami(successor.key)).status).to.equal(200);
    expect((await api.call('DELETE', `/keys/${old.id}`, { key: first })).status).to.equal(404);
    expect((await list()).map(({ name }) => name)).to.deep.equal(['ops', 'wall', 'deploy']);
  });

  it('end their streams when they are revoked, and those of no other key', async () => {
    const { id, key } = await make({ name: 'deploy', role: 'viewer' });
    const follow = (of: string) => followStream(`${api.base}/api/v1/events`, { Authorization: `Bearer ${of}` });
    const [revoked, other] = await Promise.all([follow(key), follow(viewer)]);
    expect([revoked.status, other.status]).to.deep.equal([200, 200]);
    expect((await api.call('DELETE', `/keys/${id}`, { key: first })).status).to.equal(204);
    await eventually(() => expect(revoked.ended).to.equal(true));
    expect(other.ended).to.equal(false);
    other.close();
  });

  it('are not found by what is no id of one, which writes nothing', async () => {
    const before = (await api.call('GET', '/keys', { key: first })).headers['x-sluice-revision'];
    for (const [sent, id] of [
      ['a%20b', 'a b'],
      ['x'.repeat(300), 'x'.repeat(300)],
      ['ops', 'ops'],
    ]) {
      const { status, json } = await api.call('DELETE', `/keys/${sent}`, { key: first });
      expect([status, json]).to.deep.equal([404, { error: `API key ${JSON.stringify(id)} not found` }]);
    }
    expect((await api.call('GET', '/keys', { key: first })).headers['x-sluice-revision']).to.equal(before);
  });

  it('answer their own revocation, and nothing after it', async () => {
    const { id, key } = await make({ name: 'deploy', role: 'admin' });
    expect((await api.call('DELETE', `/keys/${id}`, { key })).status).to.equal(204);
    expect((await api.call('GET', '/whoami', { key })).status).to.equal(401);
  });

  it('are made once where a request is repeated under its Idempotency-Key', async () => {
    const send = (role: string) =>
      api.call('POST', '/keys', {
        key: first,
        body: { name: 'deploy', role },
        headers: { 'idempotency-key': 'k' },
      });
    const made = await send('viewer');
    expect(made.status, made.text).to.equal(201);
    const { id } = made.json as { id: string };
    const { status, json } = await send('viewer');
    expect([status, json]).to.deep.equal([
      409,
      { error: `API key "${id}" was made with this Idempotency-Key, and is shown once: revoke it and make another` },
    ]);
    expect((await send('editor')).status).to.equal(422);
    expect((await list()).filter(({ name }) => name === 'deploy').map((each) => each.id)).to.deep.equal([id]);
  });

  it('have the rights of their role', async () => {
    const { key } = await make({ name: 'wall', role: 'viewer' });
    const { status, text } = await api.call('POST', '/keys', { key, body: { name: 'more', role: 'admin' } });
    expect([status, text]).to.deep.equal([403, '{"error":"role viewer may not make an API key"}']);
    expect((await api.call('POST', '/groups', { key, body: { name: 'g', routeIds: [] } })).status).to.equal(403);
  });

  for (const [body, error] of [
    [{ role: 'admin' }, '/name must be a text of 1 to 128 characters'],
    [{ name: '', role: 'admin' }, '/name must be a text of 1 to 128 characters'],
    [{ name: 'x'.repeat(129), role: 'admin' }, '/name must be a text of 1 to 128 characters'],
    [{ name: 'deploy' }, '/role must be one of admin, editor, viewer, proxy'],
    [{ name: 'deploy', role: 'root' }, '/role must be one of admin, editor, viewer, proxy'],
  ] as const)
    it(`are not made of ${JSON.stringify(body).slice(0, 40)}`, async () => {
      const { status, json } = await api.call('POST', '/keys', { key: first, body });
      expect({ status, json }).to.deep.equal({ status: 400, json: { error } });
    });

  it('are in no other answer', async () => {
    const { key } = await make({ name: 'deploy', role: 'editor' });
    for (const path of ['/keys', '/debug/config', '/activations', '/whoami', '/staged/diff']) {
      const { status, text } = await api.call('GET', path, { key: first });
      expect(status, path).to.equal(200);
      expect(text.includes(key), path).to.equal(false);
    }
  });
});

describe('API keys of an open API', () => {
  it('are not made: they would protect nothing', async () => {
    const api = await ApiServer.start();
    try {
      const { status, json } = await api.call('POST', '/keys', { body: { name: 'deploy', role: 'editor' } });
      expect(status).to.equal(409);
      expect(json).to.deep.equal({
        error: 'the settings have no API keys, so that every caller is an admin: set one there first',
      });
      expect((await api.call('GET', '/keys')).json).to.deep.equal([]);
    } finally {
      await api.stop();
    }
  });
});
