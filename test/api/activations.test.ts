import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { canonicalJson } from '../../src/model/config-digest.ts';
import { ApiServer, type ServerSetup } from '../support/api-server.ts';
import type { Answer, CallOptions } from '../support/http-call.ts';

interface Activation {
  readonly index: number;
  readonly at: string;
  readonly snapshotId: string;
  readonly name: string;
  readonly sha256: string;
  readonly reason: string;
}

// fleet.md §6: the history, the way back, and activations that have to be confirmed.
describe('activations', () => {
  let api: ApiServer;

  const start = async (setup: ServerSetup = {}): Promise<void> => {
    api = await ApiServer.start(setup);
  };
  const capture = async (name: string, options: CallOptions = {}): Promise<string> => {
    const route = { name: `r of ${name}`, directResponse: { status: 200, body: name } };
    await api.call('POST', '/routes', { ...options, body: route });
    const answer = await api.call('POST', '/snapshots', { ...options, body: { name } });
    return (answer.json as { id: string }).id;
  };
  const activate = (id: string, query = '', options: CallOptions = {}): Promise<Answer> =>
    api.call('POST', `/snapshots/${id}/activate${query}`, options);
  const history = async (query = '', options: CallOptions = {}): Promise<Activation[]> =>
    (await api.call('GET', `/activations${query}`, options)).json as Activation[];

  afterEach(() => api.stop());

  it('are listed with caller, time and comment, the newest first', async () => {
    await start({ options: { apiKeys: [{ name: 'ops', key: 'k', role: 'editor' }] } });
    const key = { key: 'k' };
    const [a, b] = [await capture('a', key), await capture('b', key)];
    const first = await activate(a, '', { ...key, body: { comment: 'the first' } });
    const second = await activate(b, '', key);
    const [latest, before, ...more] = await history('', key);
    expect(more).to.deep.equal([]);
    expect(latest).to.include({
      snapshotId: b,
      name: 'b',
      by: 'ops',
      reason: 'activated',
      comment: null,
      rollout: null,
    });
    expect(before).to.include({ snapshotId: a, name: 'a', by: 'ops', reason: 'activated', comment: 'the first' });
    expect([first, second].map(({ headers }) => Number(headers['x-sluice-revision']))).to.deep.equal([
      before?.index,
      latest?.index,
    ]);
    expect(before?.at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const { snapshot } = (await api.call('GET', `/snapshots/${b}`, key)).json as { snapshot: object };
    expect(latest?.sha256).to.equal(createHash('sha256').update(canonicalJson(snapshot)).digest('hex'));
    expect((await history('?limit=1', key)).map(({ name }) => name)).to.deep.equal(['b']);
  });

  it('are found by the time at which they were live', async () => {
    await start();
    await activate(await capture('a'));
    const [a] = await history();
    const at = (moment: number) => history(`?at=${new Date(moment).toISOString()}`);
    const since = Date.parse(a?.at ?? '');
    expect(await at(since - 1)).to.deep.equal([]);
    expect(await at(since)).to.deep.equal([a]);
    expect(await at(since + 1_000_000)).to.deep.equal([a]);
    for (const query of [
      '?at=yesterday',
      '?at=2026-13-01T00:00:00Z',
      '?at=2026-02-30T00:00:00Z',
      '?limit=0',
      '?limit=',
      '?limit=10001',
      '?limit=x',
    ]) {
      expect(await api.call('GET', `/activations${query}`), query).to.include({ status: 400 });
    }
  });

  it('of a batch and with a comment that is too long: kept, refused', async () => {
    await start();
    const batch = (comment: string) =>
      api.call('POST', '/batch', { body: { operations: [], snapshot: { name: 'v', activate: true, comment } } });
    const refused = await batch('x'.repeat(501));
    expect(refused.json).to.deep.equal({ error: '/snapshot/comment must have at most 500 characters' });
    const { index, snapshot } = (await batch('é'.repeat(500))).json as { index: number; snapshot: { id: string } };
    expect((await history())[0]).to.include({ index, snapshotId: snapshot.id, comment: 'é'.repeat(500) });
    const id = await capture('a');
    expect(await activate(id, '', { body: { comment: 1 } })).to.include({ status: 400 });
    expect(await history()).to.have.lengthOf(1);
  });

  describe('are taken back', () => {
    beforeEach(() => start());

    it('by one call, which is an activation of its own', async () => {
      const [a, b] = [await capture('a'), await capture('b')];
      await activate(a);
      await activate(b);
      await activate(b);
      const answer = await api.call('POST', '/rollback', { body: { comment: 'b was wrong' } });
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.json).to.include({ id: a, name: 'a', active: true });
      expect(answer.headers).to.include({ 'x-sluice-installed': '2/2' });
      expect(api.feed.current).to.include({ name: 'a', index: Number(answer.headers['x-sluice-revision']) });
      const [last, , , first] = await history();
      expect(last).to.include({ snapshotId: a, reason: 'rollback', comment: 'b was wrong', sha256: first?.sha256 });
    });

    it('not without something to go back to', async () => {
      expect(await api.call('POST', '/rollback')).to.include({ status: 409 });
      const a = await capture('a');
      await activate(a);
      expect(await api.call('POST', '/rollback')).to.include({ status: 409 });
      await activate(await capture('b'));
      await api.call('DELETE', `/snapshots/${a}`);
      const gone = await api.call('POST', '/rollback');
      expect(gone).to.include({ status: 409 });
      expect(gone.text).to.contain('deleted');
    });
  });

  describe('that have to be confirmed', () => {
    let a: string;
    let b: string;

    beforeEach(async () => {
      await start();
      [a, b] = [await capture('a'), await capture('b')];
    });

    it('say until when, and stay once they are', async () => {
      await activate(a);
      const answer = await activate(b, '?confirmWithin=1m');
      const { confirmBy } = answer.json as { confirmBy: string };
      const [latest] = await history();
      expect(Date.parse(confirmBy) - Date.parse(latest?.at ?? '')).to.equal(60_000);
      const list = (await api.call('GET', '/snapshots')).json as { id: string; confirmBy?: string }[];
      expect(list.map(({ id, confirmBy: by }) => [id, by])).to.deep.equal([
        [a, undefined],
        [b, confirmBy],
      ]);
      expect(await api.call('DELETE', `/snapshots/${a}`)).to.include({ status: 409 });
      expect(await api.call('POST', `/snapshots/${a}/confirm`)).to.include({ status: 409 });
      const confirmed = await api.call('POST', `/snapshots/${b}/confirm`);
      expect(confirmed.json).to.include({ id: b, active: true }).and.not.have.property('confirmBy');
      expect(await api.call('POST', `/snapshots/${b}/confirm`)).to.include({ status: 409 });
      expect(await api.call('DELETE', `/snapshots/${a}`)).to.include({ status: 204 });
    });

    it('lead back to what was confirmed when they get more time', async () => {
      await activate(a);
      await activate(b, '?confirmWithin=1m');
      expect(await activate(b, '?confirmWithin=2m')).to.include({ status: 200 });
      const refused = await api.call('DELETE', `/snapshots/${a}`);
      expect(refused.status).to.equal(409);
      expect(refused.json).to.deep.include({
        error: `snapshot "${a}" becomes active again unless "${b}" is confirmed`,
      });
    });

    it('lead back to what was active when they came, although that was not confirmed', async () => {
      const c = await capture('c');
      await activate(a);
      await activate(b, '?confirmWithin=1m');
      await activate(c, '?confirmWithin=1m');
      const refused = await api.call('DELETE', `/snapshots/${b}`);
      expect(refused.json).to.deep.include({
        error: `snapshot "${b}" becomes active again unless "${c}" is confirmed`,
      });
      expect(await api.call('DELETE', `/snapshots/${a}`)).to.include({ status: 204 });
    });

    it('wait no longer when another activation comes', async () => {
      await activate(a);
      await activate(b, '?confirmWithin=5s');
      await activate(a);
      expect(await api.call('POST', `/snapshots/${b}/confirm`)).to.include({ status: 409 });
    });

    it('are refused at once when nothing was active before, and for other times than 5s to 24h', async () => {
      expect(await activate(a, '?confirmWithin=60s')).to.include({ status: 409 });
      expect(await history()).to.deep.equal([]);
      await activate(a);
      for (const time of ['4.9s', '24h1s', '60', '-10s', 'soon']) {
        expect(await activate(b, `?confirmWithin=${time}`), time).to.include({ status: 400 });
      }
      expect(await api.call('POST', '/snapshots/none/confirm')).to.include({ status: 404 });
    });
  });
});
