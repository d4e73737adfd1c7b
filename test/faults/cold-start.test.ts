// Three nodes started for the first time, in every order and apart from each other (raft.md C6, row 10): one cluster, one
// leader, and service soon after the last start.
import { rmSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { drawnRandom, pause, say, secondsOf } from '../support/long-run.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { StubResolver } from '../support/stub-resolver.ts';

const orders = ['abc', 'acb', 'bac', 'bca', 'cab', 'cba'];
/** From the first start to the last; `SLUICE_COLD_START_SECONDS=30` for the longest that is asked for. */
const apartMs = secondsOf('COLD_START', 6) * 1_000;

describe(`a cold start, the last node up to ${apartMs / 1_000} s after the first`, function () {
  this.timeout(900_000);
  const random = drawnRandom();
  let cluster: NodeCluster;

  afterEach(() => cluster.stop());

  for (const order of orders) {
    it(`in the order ${[...order].join(', ')}`, async () => {
      cluster = await NodeCluster.prepare();
      await startInOrder(cluster, order, random);
      await expectOneCluster(cluster);
    });

    it(`in the order ${[...order].join(', ')}, who find each other by DNS`, async () => {
      const resolver = await StubResolver.start();
      cluster = await NodeCluster.prepare({ resolver });
      await startInOrder(cluster, order, random);
      await expectOneCluster(cluster);
      await resolver.close();
    });
  }

  it('with one that holds an old state, and one that was wiped', async () => {
    cluster = await NodeCluster.start();
    const former = (await cluster.leader()).api;
    await former.create('groups', { id: 'old', name: 'of before' });
    const { clusterId } = await cluster.node('a').overview();
    await Promise.all(cluster.nodes.map((node) => node.stop()));
    rmSync(cluster.node('c').storePath, { recursive: true });
    await startInOrder(cluster, 'cba', random);
    await expectOneCluster(cluster);
    for (const node of cluster.nodes) {
      expect((await node.overview()).clusterId).to.equal(clusterId);
      expect((await node.api.get('/groups/old')).status).to.equal(200);
    }
  });
});

async function startInOrder(cluster: NodeCluster, order: string, random: () => number): Promise<void> {
  const starts: Promise<void>[] = [];
  let left = apartMs;
  for (const nodeId of order) {
    if (starts.length > 0) {
      const wait = random() * left;
      left -= wait;
      await pause(wait);
    }
    starts.push(cluster.node(nodeId).start());
  }
  const lastStartedAt = performance.now();
  await Promise.all(starts);
  const servingMs = performance.now() - lastStartedAt;
  say(`${order}: all ready ${Math.round(servingMs)} ms after the last start`);
  expect(servingMs).to.be.at.most(5_000);
}

async function expectOneCluster({ nodes }: NodeCluster): Promise<void> {
  await eventually(async () => {
    const seen = await Promise.all(nodes.map((node: ClusterNode) => node.overview()));
    expect(new Set(seen.map(({ clusterId }) => clusterId)).size).to.equal(1);
    expect(new Set(seen.map(({ leader }) => leader)).size).to.equal(1);
    expect(seen[0]?.leader).to.be.oneOf(nodes.map(({ nodeId }) => nodeId));
  });
  for (const { api, nodeId } of nodes) await api.create('groups', { name: `written through ${nodeId}` });
}
