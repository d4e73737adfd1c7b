// Activations on one node after the other, and what the proxy of every node makes of them (contract.md §5). How soon they
// have one is measured in test/faults/activations.test.ts.
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { NumberedRoute } from '../support/numbered-route.ts';

const activations = 20;

describe('activations on any node', () => {
  let cluster: NodeCluster;
  let numbered: NumberedRoute;

  before(async () => {
    cluster = await NodeCluster.start();
    numbered = await NumberedRoute.begin(cluster.nodes[0] as ClusterNode);
    for (const node of cluster.nodes) await eventually(async () => expect(await numbered.servedBy(node)).to.equal(0));
  });

  after(() => cluster.stop());

  it('are served by its own proxy when they are answered, by the others soon, and followed by no older one', async () => {
    let active = true;
    const watch = async (node: ClusterNode): Promise<number[]> => {
      const served: number[] = [];
      while (active) served.push(await numbered.servedBy(node));
      return served;
    };
    const watching = cluster.nodes.map(watch);
    for (let number = 1; number <= activations; number++) {
      const node = cluster.nodes[number % 3] as ClusterNode;
      await numbered.activate(node, number);
      expect(await numbered.servedBy(node)).to.equal(number);
    }
    for (const node of cluster.nodes)
      await eventually(async () => expect(await numbered.servedBy(node)).to.equal(activations));
    active = false;
    for (const served of await Promise.all(watching)) {
      expect(served).to.deep.equal(served.toSorted((a, b) => a - b));
      expect(new Set(served).size).to.be.greaterThan(1);
    }
  });

  it('go back on every node by activating an earlier snapshot', async () => {
    const [first, second] = cluster.nodes as [ClusterNode, ClusterNode];
    const { body } = await first.api.get<{ id: string; name: string }[]>('/snapshots');
    const earlier = body.find(({ name }) => name === 'activation-3');
    expect((await second.api.post(`/snapshots/${earlier?.id}/activate`)).status).to.equal(200);
    for (const node of cluster.nodes) await eventually(async () => expect(await numbered.servedBy(node)).to.equal(3));
  });
});
