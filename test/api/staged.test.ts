import { expect } from 'chai';
import { roles } from '../../src/model/api-role.ts';
import { ApiServer, type ServerSetup } from '../support/api-server.ts';
import { body } from '../support/resources.ts';

interface Difference {
  readonly created: object[];
  readonly changed: object[];
  readonly deleted: object[];
}

const group = (name: string, more: object = {}) => body('groups', name, more);

describe('the staged configuration', () => {
  let api: ApiServer;

  const start = async (setup: ServerSetup = {}): Promise<void> => {
    api = await ApiServer.start(setup);
  };
  const done = async (method: string, path: string, sent?: object, headers: Record<string, string> = {}) => {
    const answer = await api.call(method, path, { headers, ...(sent && { body: sent }) });
    expect(answer.status, answer.text).to.be.within(200, 204);
    return answer;
  };
  const diff = async (query = ''): Promise<Difference> =>
    ((await done('GET', `/staged/diff${query}`)).json as { entities: Difference }).entities;
  const nothing: Difference = { created: [], changed: [], deleted: [] };
  const live = async () => {
    const operations = [
      ...['kept', 'changed', 'gone'].map((id) => ({
        op: 'create',
        kind: 'groups',
        body: group(id, { id, owner: 'pay' }),
      })),
      { op: 'create', kind: 'secrets', body: { id: 's', name: 's', value: 'CANARY-1' } },
      {
        op: 'create',
        kind: 'routes',
        body: body('routes', 'r', { id: 'r', directResponse: { status: 200, body: '{{secret:value:s}}' } }),
      },
    ];
    await done('POST', '/batch', { operations, snapshot: { name: 'live', activate: true } });
  };
  const edit = async () => {
    await done('PUT', '/groups/changed', group('renamed', { pathPrefix: '/x', routeIds: ['r'] }));
    await done('DELETE', '/groups/gone');
    await done('POST', '/groups', group('new', { id: 'new', owner: 'shop', labels: { env: 'test' } }));
  };

  beforeEach(() => start());
  afterEach(() => api.stop());

  describe('compared with what is live', () => {
    it('is all created when nothing is live, and alike after an activation', async () => {
      await done('POST', '/groups', group('one', { id: 'one' }));
      const { json } = await done('GET', '/staged/diff');
      expect(json).to.deep.include({ active: null });
      expect(await diff()).to.deep.equal({ ...nothing, created: [{ kind: 'groups', id: 'one', name: 'one' }] });
      await done('POST', '/batch', { operations: [], snapshot: { name: 'v1', activate: true } });
      expect(await diff()).to.deep.equal(nothing);
      expect((await done('GET', '/staged/diff')).json).to.have.nested.property('active.name', 'v1');
    });

    it('names what was created, changed field by field, and deleted', async () => {
      await live();
      expect(await diff()).to.deep.equal(nothing);
      await edit();
      expect(await diff()).to.deep.equal({
        created: [{ kind: 'groups', id: 'new', name: 'new', owner: 'shop' }],
        changed: [
          {
            kind: 'groups',
            id: 'changed',
            name: 'renamed',
            owner: 'pay',
            changes: [
              { pointer: '/name', from: 'changed', to: 'renamed' },
              { pointer: '/routeIds', from: [], to: ['r'] },
              { pointer: '/pathPrefix', from: null, to: '/x' },
            ],
          },
        ],
        deleted: [{ kind: 'groups', id: 'gone', name: 'gone', owner: 'pay' }],
      });
      expect((await diff('?owner=shop')).changed).to.deep.equal([]);
      expect((await diff('?label=env=test')).created).to.have.length(1);
    });

    it('is alike again when an edit is taken back by hand', async () => {
      await live();
      await done('PUT', '/groups/kept', group('kept', { pathPrefix: '/x' }));
      await done('PUT', '/groups/kept', group('kept'));
      expect(await diff()).to.deep.equal(nothing);
    });

    it('shows secrets as references, and that a value has changed', async () => {
      await live();
      await done('PUT', '/secrets/s', { name: 's', value: 'CANARY-2' });
      await done(
        'PUT',
        '/routes/r',
        body('routes', 'r', { directResponse: { status: 201, body: 'a {{secret:value:s}}' } }),
      );
      const { text } = await done('GET', '/staged/diff');
      expect(text).not.to.contain('CANARY');
      const { changed } = await diff();
      expect(changed).to.deep.equal([
        {
          kind: 'routes',
          id: 'r',
          name: 'r',
          changes: [
            { pointer: '/directResponse/status', from: 200, to: 201 },
            { pointer: '/directResponse/body', from: '{{secret:value:s}}', to: 'a {{secret:value:s}}' },
          ],
        },
        { kind: 'secrets', id: 's', name: 's', changes: [{ pointer: '/value', from: '***', to: '***' }] },
      ]);
      await done('DELETE', '/secrets/s');
      expect((await diff()).deleted).to.deep.equal([{ kind: 'secrets', id: 's', name: 's' }]);
    });

    it('has an ETag that a batch takes', async () => {
      await live();
      const { etag } = (await done('GET', '/staged/diff')).headers;
      await done('POST', '/batch', { operations: [] }, { 'if-match': String(etag) });
      await edit();
      const late = await api.call('POST', '/batch', {
        body: { operations: [] },
        headers: { 'if-match': String(etag) },
      });
      expect(late.status).to.equal(412);
      expect(late.headers.etag).to.equal((await done('GET', '/staged/diff')).headers.etag);
    });
  });

  describe('discarded', () => {
    const content = async () => (await done('GET', '/groups')).json;
    let before: unknown;

    beforeEach(async () => {
      await live();
      before = await content();
      await edit();
    });

    it('is what is live', async () => {
      await done('PUT', '/secrets/s', { name: 's', value: 'CANARY-2' });
      const { json } = await done('POST', '/staged/discard');
      expect(json).to.have.deep.property('discarded', [
        { kind: 'groups', id: 'changed' },
        { kind: 'groups', id: 'gone' },
        { kind: 'groups', id: 'new' },
        { kind: 'secrets', id: 's' },
      ]);
      expect(await content()).to.deep.equal(before);
      expect((await done('GET', '/secrets/s')).json).to.have.property('value', 'CANARY-1');
      expect(await diff()).to.deep.equal(nothing);
      expect((await done('POST', '/staged/discard', {})).json).to.have.deep.property('discarded', []);
    });

    it('keeps the edits of others when an owner is named', async () => {
      await done('POST', '/staged/discard', { owner: 'pay' });
      expect(await diff()).to.deep.equal({
        ...nothing,
        created: [{ kind: 'groups', id: 'new', name: 'new', owner: 'shop' }],
      });
    });

    it('keeps all edits but those of the entities that are named', async () => {
      const entities = [
        { kind: 'groups', id: 'gone' },
        { kind: 'groups', id: 'kept' },
      ];
      const { json } = await done('POST', '/staged/discard', { entities });
      expect(json).to.have.deep.property('discarded', [{ kind: 'groups', id: 'gone' }]);
      const { created, changed, deleted } = await diff();
      expect([created.length, changed.length, deleted.length]).to.deep.equal([1, 1, 0]);
    });

    it('stays as it is when a name that is live was given to another', async () => {
      await done('POST', '/groups', group('gone', { id: 'heir' }));
      const staged = await content();
      const answer = await api.call('POST', '/staged/discard', {
        body: { entities: [{ kind: 'groups', id: 'gone' }] },
      });
      expect([answer.status, answer.json]).to.deep.equal([409, { error: 'a group named "gone" exists already' }]);
      expect(await content()).to.deep.equal(staged);
      await done('POST', '/staged/discard');
      expect(await content()).to.deep.equal(before);
    });

    it('is conditional and answers a repetition as the first time', async () => {
      const { etag } = (await done('GET', '/staged/diff')).headers;
      await done('DELETE', '/groups/new');
      const late = await api.call('POST', '/staged/discard', { headers: { 'if-match': String(etag) } });
      expect(late.status).to.equal(412);
      const headers = { 'idempotency-key': 'k' };
      const first = await done('POST', '/staged/discard', {}, headers);
      await done('DELETE', '/groups/kept');
      expect((await done('POST', '/staged/discard', {}, headers)).json).to.deep.equal(first.json);
      expect((await diff()).deleted).to.have.length(1);
    });

    it('is refused for more than 10,000 entities by name, and taken for so many', async () => {
      const named = (count: number) =>
        api.call('POST', '/staged/discard', {
          body: { entities: Array.from({ length: count }, (_, at) => ({ kind: 'routes', id: `r${at}` })) },
        });
      const taken = await named(10_000);
      expect([taken.status, taken.json]).to.deep.include(200);
      expect(taken.json).to.have.deep.property('discarded', []);
      const { status, json } = await named(10_001);
      expect([status, json]).to.deep.equal([400, { error: '/entities must have at most 10000 entries' }]);
    });

    it('is refused for choices that are none, by field', async () => {
      const faults: [sent: object, error: RegExp][] = [
        [{ entities: [{ kind: 'snapshots', id: 'x' }] }, /^\/entities\/0\/kind must be one of/],
        [{ entities: [{ kind: 'groups' }] }, /^\/entities\/0\/id is required$/],
        [{ owner: 7 }, /^\/owner must be a string$/],
        [{ owner: 'a', entities: [] }, /^\/entities must not stand beside owner$/],
      ];
      for (const [sent, error] of faults) {
        const answer = await api.call('POST', '/staged/discard', { body: sent });
        expect(answer.status).to.equal(400);
        expect((answer.json as { error: string }).error).to.match(error);
      }
      expect((await diff()).created).to.have.length(1);
    });
  });

  describe('in lists', () => {
    const keys = roles.map((role) => ({ name: role, key: `k-${role}`, role }));
    const list = (kind: string, query: string, role: string) =>
      api.call('GET', `/${kind}${query}`, { headers: { authorization: `Bearer k-${role}` } });

    it('shows references, and values to an admin who asks for them', async () => {
      await api.stop();
      await start({ options: { apiKeys: keys }, env: { TOKEN: 'CANARY-2' } });
      const headers = { authorization: 'Bearer k-admin' };
      const text = '{{secret:value:s}} {{secret:env:TOKEN}} {{secret:env:NONE}}';
      await done('POST', '/secrets', { id: 's', name: 's', value: 'CANARY-1' }, headers);
      await done('POST', '/routes', body('routes', 'r', { directResponse: { status: 200, body: text } }), headers);
      for (const role of ['viewer', 'editor', 'admin']) {
        for (const query of ['', '?secrets=references']) {
          expect((await list('routes', query, role)).text)
            .to.contain(text)
            .and.not.contain('CANARY');
          expect((await list('secrets', query, role)).text).not.to.contain('CANARY');
        }
      }
      for (const kind of ['routes', 'secrets']) {
        expect((await list(kind, '?secrets=resolved', 'editor')).status).to.equal(403);
        expect((await list(kind, '?secrets=all', 'admin')).status).to.equal(400);
      }
      const { json } = await list('routes', '?secrets=resolved', 'admin');
      expect(json).to.have.nested.property('[0].directResponse.body', 'CANARY-1 CANARY-2 {{secret:env:NONE}}');
      const secrets = (await list('secrets', '?secrets=resolved', 'admin')).json;
      expect(secrets).to.deep.equal([{ id: 's', name: 's', value: 'CANARY-1' }]);
    });
  });

  describe('and its caller', () => {
    it('is an admin without keys', async () => {
      const { json } = await done('GET', '/whoami');
      expect(json).to.deep.equal({ name: '', role: 'admin', may: ['read', 'write', 'administer', 'follow'] });
    });

    it('has the name and the rights of its key', async () => {
      await api.stop();
      await start({ options: { apiKeys: roles.map((role) => ({ name: `the ${role}`, key: `k-${role}`, role })) } });
      const may = {
        admin: ['read', 'write', 'administer', 'follow'],
        editor: ['read', 'write'],
        viewer: ['read'],
        proxy: ['follow'],
      };
      for (const role of roles) {
        const { json } = await done('GET', '/whoami', undefined, { authorization: `Bearer k-${role}` });
        expect(json).to.deep.equal({ name: `the ${role}`, role, may: may[role] });
      }
      expect((await api.call('GET', '/whoami')).status).to.equal(401);
    });
  });
});
