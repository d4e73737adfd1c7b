import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';
import type { Answer } from '../support/http-call.ts';
import { body, editableKinds } from '../support/resources.ts';

describe('owner and labels', () => {
  let api: ApiServer;

  beforeEach(async () => {
    api = await ApiServer.start();
  });

  afterEach(() => api.stop());

  const ids = async (path: string): Promise<string[]> =>
    ((await api.call('GET', path)).json as { id: string }[]).map(({ id }) => id);
  const batch = (operations: readonly object[], query = '', more: object = {}): Promise<Answer> =>
    api.call('POST', `/batch${query}`, { body: { operations, ...more } });

  for (const kind of editableKinds) {
    const marks = { owner: 'team "shop"', labels: { env: 'staging', 'app/tier': '' } };
    const create = () => api.call('POST', `/${kind}`, { body: body(kind, 'one', { id: 'one', ...marks }) });

    it(`of ${kind} are answered by reads and lists`, async () => {
      expect((await create()).json).to.deep.include(marks);
      expect((await api.call('GET', `/${kind}/one`)).json).to.deep.include(marks);
      const { json } = await api.call('GET', `/${kind}`);
      expect(json).to.have.length(1);
      expect((json as object[])[0])
        .to.deep.include(marks)
        .and.not.have.property('value');
    });

    it(`of ${kind} stay when an update leaves them out, and change when it has others`, async () => {
      await create();
      const kept = await api.call('PUT', `/${kind}/one`, { body: body(kind, 'two', { owner: null, labels: null }) });
      expect(kept.json).to.deep.include({ name: 'two', ...marks });
      expect((await api.call('GET', `/${kind}/one`)).json).to.deep.include({ name: 'two', ...marks });
      const others = { owner: 'team-pay', labels: {} };
      const changed = await api.call('PUT', `/${kind}/one`, { body: body(kind, 'two', others) });
      expect(changed.json).to.deep.include(others);
    });

    it(`of ${kind} stay when an operation of a batch leaves them out`, async () => {
      await create();
      const update = { op: 'update', kind, id: 'one', body: body(kind, 'two') };
      expect((await batch([update])).status).to.equal(200);
      expect((await api.call('GET', `/${kind}/one`)).json).to.deep.include({ name: 'two', ...marks });
      const upsert = { op: 'upsert', kind, by: 'name', body: body(kind, 'two') };
      expect((await batch([upsert])).json).to.have.nested.property('results[0].changed', false);
    });

    it(`of ${kind} filter lists`, async () => {
      const operations = [
        { id: 'a', owner: 'x', labels: { env: 'prod', tier: 'web' } },
        { id: 'b', owner: 'x', labels: { env: 'test' } },
        { id: 'c', owner: 'y', labels: { env: 'prod' } },
        { id: 'd' },
      ].map((more) => ({ op: 'create', kind, body: body(kind, more.id, more) }));
      expect((await batch(operations)).status).to.equal(200);
      expect(await ids(`/${kind}?owner=x`)).to.deep.equal(['a', 'b']);
      expect(await ids(`/${kind}?label=env=prod`)).to.deep.equal(['a', 'c']);
      expect(await ids(`/${kind}?label=env%3Dprod&label=tier`)).to.deep.equal(['a']);
      expect(await ids(`/${kind}?owner=x&label=env`)).to.deep.equal(['a', 'b']);
      expect(await ids(`/${kind}?owner=nobody`)).to.deep.equal([]);
      expect(await ids(`/${kind}`)).to.deep.equal(['a', 'b', 'c', 'd']);
      for (const empty of ['owner=', 'label=', 'label=env&label=']) {
        expect((await api.call('GET', `/${kind}?${empty}`)).status, empty).to.equal(400);
      }
    });
  }

  it('of snapshots are answered and filter the list', async () => {
    const marks = { owner: 'x', labels: { env: 'prod' } };
    const created = await api.call('POST', '/snapshots', { body: { name: 'v1', ...marks } });
    expect(created.status, created.text).to.equal(201);
    expect(created.json).to.deep.include(marks);
    await api.call('POST', '/snapshots', { body: { name: 'v2' } });
    const { id } = created.json as { id: string };
    expect((await api.call('GET', `/snapshots/${id}`)).json).to.deep.include(marks);
    for (const filter of ['owner=x', 'label=env=prod', 'label=env&owner=x']) {
      const { json } = await api.call('GET', `/snapshots?${filter}`);
      expect(json).to.have.length(1);
      expect((json as object[])[0]).to.deep.include({ id, ...marks });
    }
    expect((await api.call('GET', '/snapshots?owner=y')).json).to.deep.equal([]);
    expect((await api.call('GET', '/snapshots')).json).to.have.length(2);
  });

  it('are refused in the wrong form, by field', async () => {
    const labels = Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`l${at}`, 'x']));
    const refused = async (more: object): Promise<string> => {
      const answer = await api.call('POST', '/groups', { body: body('groups', 'g', more) });
      expect(answer.status).to.equal(400);
      return (answer.json as { error: string }).error;
    };
    expect(await refused({ owner: 7 })).to.equal('/owner must be a string');
    expect(await refused({ labels })).to.equal('/labels must have at most 32 entries');
    expect(await refused({ labels: { a: 1 } })).to.equal('/labels/a must be a string');
    expect(await refused({ labels: ['a'] })).to.equal('/labels must be an object');
  });

  describe('of what another writer changes', () => {
    const put = (more: object, query = '') => api.call('PUT', `/groups/g${query}`, { body: body('groups', 'g', more) });

    beforeEach(() => api.call('POST', '/groups', { body: body('groups', 'g', { id: 'g', owner: 'team-pay' }) }));

    const warning = '299 sluice "group g is maintained by owner team-pay, which may undo this change"';

    it('are named by a warning of the update, unless it is silenced or the owner writes', async () => {
      expect((await put({})).headers.warning).to.equal(warning);
      expect((await put({}, '?override=true')).headers).to.not.have.property('warning');
      expect((await put({}, '?override=false')).headers.warning).to.equal(warning);
      expect((await put({ owner: 'team-pay' })).headers).to.not.have.property('warning');
      expect((await put({ owner: 'team-shop' })).headers.warning).to.equal(warning);
      expect((await put({}, '?override=yes')).status).to.equal(400);
    });

    it('are named by a warning of the deletion', async () => {
      expect((await api.call('DELETE', '/groups/g')).headers.warning).to.equal(warning);
      await api.call('POST', '/groups', { body: body('groups', 'g', { id: 'g', owner: 'team-pay' }) });
      expect((await api.call('DELETE', '/groups/g?override=true')).headers).to.not.have.property('warning');
    });

    it('are not named where the body of the deletion names the owner', async () => {
      const remove = (sent: object | string) => api.call('DELETE', '/groups/g', { body: sent });
      for (const sent of ['[]', '"team-pay"', '{"owner":5}', '{'])
        expect((await remove(sent)).status, sent).to.equal(400);
      const removed = await remove({ owner: 'team-pay' });
      expect(removed.status).to.equal(204);
      expect(removed.headers).to.not.have.property('warning');
      await api.call('POST', '/groups', { body: body('groups', 'g', { id: 'g', owner: 'team-pay' }) });
      expect((await remove({ owner: 'team-shop' })).headers.warning).to.equal(warning);
    });

    it('are named by a warning of the deletion of a snapshot, unless the body names the owner', async () => {
      const remove = async (query: string, sent?: object) => {
        const { json } = await api.call('POST', '/snapshots', { body: { name: 'v1', owner: 'team-pay' } });
        const { id } = json as { id: string };
        const removed = await api.call('DELETE', `/snapshots/${id}${query}`, { ...(sent && { body: sent }) });
        expect(removed.status, removed.text).to.equal(204);
        return { id, warning: removed.headers.warning };
      };
      const { id, warning: told } = await remove('');
      expect(told).to.equal(`299 sluice "snapshot ${id} is maintained by owner team-pay, which may undo this change"`);
      expect(await remove('', { owner: 'team-shop' }))
        .to.have.property('warning')
        .that.contains('team-pay');
      expect((await remove('?override=true')).warning).to.equal(undefined);
      expect((await remove('', { owner: 'team-pay' })).warning).to.equal(undefined);
    });

    it('are named by warnings of a batch and of its dry run', async () => {
      const update = { op: 'update', kind: 'groups', id: 'g', body: body('groups', 'g', { pathPrefix: '/x' }) };
      const warnings = [
        { pointer: '/groups/g/owner', message: 'is maintained by owner team-pay, which may undo this change' },
      ];
      expect((await batch([update], '?dryRun=true')).json).to.have.deep.property('warnings', warnings);
      expect((await batch([update])).json).to.have.deep.property('warnings', warnings);
      expect((await batch([update], '?override=true')).json).to.have.deep.property('warnings', []);
      // An upsert that changes nothing is no change.
      const same = { ...update, op: 'upsert' };
      expect((await batch([same])).json).to.have.deep.property('warnings', []);
    });
  });
});
