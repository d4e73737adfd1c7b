import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';

const canary = 'CANARY-91-VALUE';

describe('GET /activations/{index}/diff', () => {
  let server: ApiServer;
  const indexes: number[] = [];
  const snapshots: string[] = [];

  const write = async (method: string, path: string, body?: object) => {
    const answer = await server.call(method, path, body === undefined ? {} : { body });
    expect(answer.status, answer.text).to.be.lessThan(300);
    return answer.json as Record<string, unknown>;
  };
  const activate = async (name: string): Promise<void> => {
    const { id } = await write('POST', '/snapshots', { name });
    await write('POST', `/snapshots/${id}/activate`);
    snapshots.push(String(id));
    const [newest] = (await server.call('GET', '/activations')).json as { index: number }[];
    indexes.push(newest?.index ?? 0);
  };
  const diff = async (index: number | string | undefined) => await server.call('GET', `/activations/${index}/diff`);

  before(async () => {
    server = await ApiServer.start();
    await write('POST', '/secrets', { id: 's', name: 's', value: canary });
    await write('POST', '/destinations', { id: 'cart', name: 'cart', host: 'cart.test', port: 80 });
    const forward = { destinations: [{ destinationId: 'cart' }] };
    await write('POST', '/routes', { id: 'a', name: 'a', match: { path: '/a' }, forward });
    const redirect = { path: '/{{secret:value:s}}' };
    await write('POST', '/routes', { id: 'b', name: 'b', priority: 2, match: { path: '/b' }, redirect });
    await activate('first');
    const options = { timeouts: { request: '3s' } };
    await write('PUT', '/destinations/cart', { name: 'cart', host: 'cart.test', port: 80, options });
    await write('PUT', '/secrets/s', { name: 's', value: `${canary}-2` });
    await write('POST', '/routes', {
      id: 'all',
      name: 'all',
      priority: 1,
      match: { pathPrefix: '/' },
      directResponse: { status: 204 },
    });
    await activate('second');
  });

  after(() => server.stop());

  it('tells no secret for a value of the environment that is another one', async () => {
    const env: Record<string, string> = { PATH_OF_B: 'one' };
    const other = await ApiServer.start({ env });
    try {
      const must = async (method: string, path: string, body?: object) => {
        const answer = await other.call(method, path, body === undefined ? {} : { body });
        expect(answer.status, answer.text).to.be.lessThan(300);
        return answer.json as { readonly id: string };
      };
      const redirect = { path: '/{{secret:env:PATH_OF_B}}' };
      await must('POST', '/routes', { id: 'b', name: 'b', match: { path: '/b' }, redirect });
      for (const value of ['one', 'two']) {
        env.PATH_OF_B = value;
        await must('POST', `/snapshots/${(await must('POST', '/snapshots', { name: value })).id}/activate`);
      }
      const [newest] = (await other.call('GET', '/activations')).json as { index: number }[];
      const found = (await must('GET', `/activations/${newest?.index}/diff`)) as unknown as {
        entities: object;
        routes: object[];
      };
      expect(found.entities).to.deep.equal({ created: [], changed: [], deleted: [] });
      expect(found.routes).to.deep.equal([{ id: 'b', name: 'b', why: ['env PATH_OF_B: value'] }]);
    } finally {
      await other.stop();
    }
  });

  it('tells entities, findings and the routes that a change reaches, and shows no value of a secret', async () => {
    const { status, json, text } = await diff(indexes[1]);
    expect(status, text).to.equal(200);
    const { from, to, entities, findings, routes, replay } = json as Record<string, never> & {
      entities: { created: { id: string }[]; changed: { id: string; changes: object[] }[]; deleted: object[] };
      findings: { new: { rule: string; id: string }[]; gone: object[] };
    };
    expect([from, to]).to.deep.equal(snapshots);
    expect(entities.created.map(({ id }) => id)).to.deep.equal(['all']);
    expect(entities.changed.map(({ id }) => id)).to.have.members(['cart', 's']);
    expect(entities.deleted).to.deep.equal([]);
    expect(findings.new.map(({ rule, id }) => `${rule} ${id}`)).to.include('unreachable-route a');
    expect(routes).to.deep.equal([
      { id: 'a', name: 'a', why: ['destination cart: /options'] },
      { id: 'all', name: 'all', why: ['route all: created'] },
      { id: 'b', name: 'b', why: ['secret s: /value'] },
    ]);
    expect(replay).to.equal(null);
    expect(text).to.not.contain(canary);
  });

  it('creates everything in the first activation', async () => {
    const { json } = await diff(indexes[0]);
    const { from, entities } = json as { from: null; entities: { created: { id: string }[]; changed: object[] } };
    expect(from).to.equal(null);
    expect(entities.created.map(({ id }) => id)).to.have.members(['cart', 'a', 'b']);
    expect(entities.changed).to.deep.equal([]);
  });

  it('answers 404 for an index that is no activation, and 410 where a snapshot is deleted', async () => {
    expect((await diff(999_999)).status).to.equal(404);
    expect((await diff('x')).status).to.equal(404);
    await write('DELETE', `/snapshots/${snapshots[0]}`);
    expect((await diff(indexes[0])).status).to.equal(410);
    expect((await diff(indexes[1])).status).to.equal(410);
  });
});
