import { expect } from 'chai';
import { type ClusterNode, SluiceCluster } from '../support/sluice-cluster.ts';

const route = (name: string) => ({ name, match: { pathPrefix: `/${name}` }, directResponse: { status: 204 } });

describe('three nodes', () => {
  let cluster: SluiceCluster;
  let leader: ClusterNode;
  let followers: readonly ClusterNode[];

  before(async function () {
    this.timeout(60_000);
    cluster = await SluiceCluster.start();
    leader = await cluster.leader();
    followers = await cluster.followers();
  });

  after(() => cluster.stop());

  it('agree on one cluster id and one leader', async () => {
    const views = await Promise.all(cluster.nodes.map(({ api }) => api.get('/cluster')));
    expect(new Set(views.map(({ body }) => body.clusterId)).size).to.equal(1);
    for (const { body } of views) expect(body.leader).to.equal(leader.nodeId);
  });

  it('show a write to any of them on the others at once, a hundred times', async function () {
    this.timeout(60_000);
    for (let round = 0; round < 100; round++) {
      const [a, ...others] = [0, 1, 2].map((at) => cluster.nodes[(round + at) % 3]);
      if (a === undefined) throw new Error('no node');
      const id = await a.api.create('routes', route(`round-${round}`));
      const read = await Promise.all(others.map((node) => node?.api.get(`/routes/${id}`)));
      expect(read.map((answer) => answer?.status)).to.deep.equal([200, 200]);
    }
  });

  it('create a name once when twenty ask at the same time', async () => {
    const asked = Array.from({ length: 20 }, (_, at) => cluster.nodes[at % 3]?.api.post('/groups', { name: 'only' }));
    const statuses = (await Promise.all(asked)).map((answer) => answer?.status).sort();
    expect(statuses).to.deep.equal([201, ...Array.from({ length: 19 }, () => 409)]);
  });

  it('repeat a create under its Idempotency-Key with the first answer, whichever node is asked', async () => {
    const create = async (node: ClusterNode | undefined) => {
      const response = await fetch(`${node?.url}/api/v1/groups`, {
        method: 'POST',
        headers: { 'idempotency-key': 'once' },
        body: '{"name":"with a key"}',
      });
      return { status: response.status, etag: response.headers.get('etag'), body: await response.json() };
    };
    const first = await create(followers[0]);
    expect(first.status).to.equal(201);
    expect(await create(followers[1])).to.deep.equal(first);
    expect(await create(leader)).to.deep.equal(first);
  });

  it('activate on a follower and answer when its proxy has it', async () => {
    const [follower] = followers;
    const created = await follower?.api.post('/snapshots', { name: 'v1' });
    const { status, headers } = (await follower?.api.post(`/snapshots/${created?.body.id}/activate`)) ?? {};
    expect(status).to.equal(200);
    expect(headers?.get('x-sluice-installed')).to.equal('1/1');
  });
});
