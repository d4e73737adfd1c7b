import { expect } from 'chai';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';

describe('writes on a follower', () => {
  let cluster: NodeCluster;
  let leader: ClusterNode;
  let followers: readonly ClusterNode[];

  before(async () => {
    cluster = await NodeCluster.start();
    leader = await cluster.leader();
    followers = await cluster.followers();
  });

  after(() => cluster.stop());

  const create = async (node: ClusterNode | undefined, body = '{"name":"with a key"}') => {
    const headers = { 'idempotency-key': 'once' };
    const response = await fetch(`${node?.url}/api/v1/groups`, { method: 'POST', headers, body });
    return { status: response.status, etag: response.headers.get('etag'), body: await response.json() };
  };

  it('repeat a create under its Idempotency-Key with the first answer, whichever node is asked', async () => {
    const first = await create(followers[0]);
    expect(first.status).to.equal(201);
    expect(await create(followers[1])).to.deep.equal(first);
    expect(await create(leader)).to.deep.equal(first);
  });

  it('refuse the key with another body on every node', async () => {
    for (const node of cluster.nodes) expect((await create(node, '{"name":"another"}')).status).to.equal(422);
  });

  it('answer an activation when the proxy of that node has it', async () => {
    const [follower] = followers;
    const created = await follower?.api.post('/snapshots', { name: 'v1' });
    const { status, headers } = (await follower?.api.post(`/snapshots/${created?.body.id}/activate`)) ?? {};
    expect(status).to.equal(200);
    expect(headers?.get('x-sluice-installed')).to.equal('1/1');
  });
});
