// Reads after writes on all nodes: a write that one node has acknowledged is there on all of them, and of clients that
// want the same name at once one gets it. `SLUICE_READ_ROUNDS` makes it longer.
import { expect } from 'chai';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';

const rounds = Number(process.env.SLUICE_READ_ROUNDS ?? 100);
const contenders = 20;

describe('three nodes that are asked in turn', function () {
  this.timeout(30_000 + rounds * 100);
  let cluster: NodeCluster;

  before(async () => {
    cluster = await NodeCluster.start();
    await cluster.leader();
  });

  after(() => cluster.stop());

  const nodeAt = (at: number): ClusterNode => cluster.nodes[at % cluster.nodes.length] as ClusterNode;

  it(`show on the others at once what was written on one, ${rounds} times`, async () => {
    const missed: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const writer = nodeAt(round);
      const readers = cluster.nodes.filter((node) => node !== writer);
      const id = await writer.api.create('groups', { name: `round ${round}` });
      const answers = await Promise.all(readers.map(({ api }) => api.get(`/groups/${id}`)));
      for (const [at, { status }] of answers.entries())
        if (status !== 200) missed.push(`${round}: ${status} on ${readers[at]?.nodeId}, written on ${writer.nodeId}`);
    }
    expect(missed).to.deep.equal([]);
  });

  it('rotate keys of cookies in turn, each after what the others have answered', async () => {
    const before = await nodeAt(0).api.get<object[]>('/cookie-keys');
    for (let round = 1; round <= 6; round++) {
      const { status, body } = await nodeAt(round).api.post<object[]>('/cookie-keys/rotate');
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body).to.have.length(Math.min(8, before.body.length + round));
    }
  });

  it(`give a name to one of ${contenders} that ask for it at once`, async () => {
    const asked = Array.from({ length: contenders }, (_, at) => nodeAt(at).api.post('/groups', { name: 'wanted' }));
    const statuses = (await Promise.all(asked)).map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([201, ...new Array(contenders - 1).fill(409)]);
    for (const { api } of cluster.nodes) {
      const { body } = await api.get<{ name: string }[]>('/groups');
      expect(body.filter(({ name }) => name === 'wanted')).to.have.length(1);
    }
  });
});
