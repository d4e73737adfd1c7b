import { rmSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { needsPreload } from '../support/needs.ts';
import { NodeCluster } from '../support/node-cluster.ts';
import { StubResolver } from '../support/stub-resolver.ts';

describe('three nodes that find each other by DNS', () => {
  let resolver: StubResolver;
  let cluster: NodeCluster;

  before(async function () {
    needsPreload(this);
    resolver = await StubResolver.start();
    cluster = await NodeCluster.start({ resolver });
  });

  after(async () => {
    await cluster?.stop();
    await resolver?.close();
  });

  it('found one cluster together, once', async () => {
    const { nodes } = cluster;
    expect(nodes.filter(({ output }) => output.join('\n').includes('creates cluster'))).to.have.length(1);
    const overviews = await Promise.all(nodes.map((node) => node.overview()));
    expect(new Set(overviews.map(({ clusterId }) => clusterId)).size).to.equal(1);
    expect(overviews[0]?.members.map(({ nodeId, raftAddress }) => [nodeId, raftAddress])).to.deep.equal(
      nodes.map(({ nodeId, proxyAddress, ports }) => [nodeId, `${proxyAddress}:${ports.raft}`]),
    );
    await cluster.node('a').api.create('groups', { name: 'from a' });
    expect((await cluster.node('c').api.get<object[]>('/groups')).body).to.have.length(1);
  });

  it('take a wiped member back as another one, which never founds anything', async () => {
    const [a, c] = [cluster.node('a'), cluster.node('c')];
    const { clusterId } = await a.overview();
    await c.stop('SIGKILL');
    rmSync(c.storePath, { recursive: true });
    const before = c.output.length;
    await c.start();
    expect(c.output.slice(before).join('\n')).to.contain(`joins cluster ${clusterId}`);
    await eventually(async () => {
      const { members } = await a.overview();
      const own = members.filter(({ nodeId }) => nodeId === 'c').map(({ role }) => role);
      expect(own).to.have.members(['voter', 'learner']);
    });
    expect((await c.api.get<object[]>('/groups')).body).to.have.length(1);
  });
});
