import { rmSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { call } from '../support/http-call.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';

describe('members of a running cluster', () => {
  let cluster: NodeCluster;

  before(async () => {
    cluster = await NodeCluster.start({
      nodeIds: ['a', 'b', 'c', 'd'],
      founders: ['a', 'b', 'c'],
      controlPlane: '  onRemoved: serve\n',
    });
  });

  after(() => cluster.stop());

  const roles = async (node: ClusterNode): Promise<Record<string, string>> =>
    Object.fromEntries((await node.overview()).members.map(({ nodeId, role }) => [nodeId, role]));

  it('start with the founders as voters', async () => {
    const leader = await cluster.leader();
    const { members } = await leader.overview();
    expect(members.map(({ nodeId }) => nodeId)).to.include.members(['a', 'b', 'c']);
  });

  it('hand leadership to the node that is named, asked on any node', async () => {
    const [follower] = (await cluster.followers()).filter(({ nodeId }) => nodeId !== 'd');
    const { status, body } = (await follower?.api.post('/cluster/transfer', { to: follower.nodeId })) ?? {};
    expect({ status, body }).to.deep.equal({ status: 200, body: { leader: follower?.nodeId } });
    expect((await cluster.leader()).nodeId).to.equal(follower?.nodeId);
  });

  it('take a started node in as a learner that catches up', async () => {
    const leader = await cluster.leader();
    await leader.api.create('groups', { name: 'from before' });
    await eventually(async () => {
      const { members } = await leader.overview();
      expect(members.find(({ nodeId }) => nodeId === 'd')).to.include({ role: 'learner', lag: 0, healthy: true });
    });
    const { body } = await cluster.node('d').api.get<{ name: string }[]>('/groups');
    expect(body.map(({ name }) => name)).to.deep.equal(['from before']);
  });

  it('let the learner vote in the place of a dead voter', async () => {
    const leader = await cluster.leader();
    const dead = ['a', 'b', 'c'].map((nodeId) => cluster.node(nodeId)).find((node) => node !== leader);
    await dead?.stop('SIGKILL');
    const { status, body } = await leader.api.post(`/cluster/members/${dead?.nodeId}/replace`, { by: 'd' });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(await roles(leader))
      .to.include({ d: 'voter' })
      .and.not.to.have.property(dead?.nodeId ?? '');
    await cluster.node('d').api.create('groups', { name: 'written on the replacement' });
  });

  it('refuse a removal that would cost the quorum, and do it by force', async () => {
    const leader = await cluster.leader();
    const other = cluster.nodes.find((node) => node !== leader && node.process !== undefined && node.nodeId !== 'd');
    await cluster.node('d').stop('SIGKILL');
    await eventually(async () => {
      const { members } = await leader.overview();
      expect(members.find(({ nodeId }) => nodeId === 'd')).to.include({ healthy: false });
    });
    const refused = await leader.api.delete(`/cluster/members/${other?.nodeId}`);
    expect(refused.status).to.equal(409);
    const removed = await leader.api.delete('/cluster/members/d');
    expect(removed.status).to.equal(204);
    const forced = await leader.api.delete(`/cluster/members/${other?.nodeId}?force=true`);
    expect(forced.status).to.equal(204);
    await leader.api.create('groups', { name: 'written alone' });
    await eventually(() =>
      expect(other?.output.join('\n')).to.match(/this node was removed from its cluster at index \d+/),
    );
  });

  it('is told by one that was removed and still runs, which shows what it had', async () => {
    const removed = cluster.nodes.find(({ output }) => output.join('\n').includes('this node was removed from its'));
    if (removed === undefined) throw new Error('nobody was told that it was removed');
    const why = /^this node was removed from its cluster at index \d+: to come back it needs an empty store$/;
    for (const asked of [removed.api.get('/groups'), removed.api.post('/groups', { name: 'nowhere' })]) {
      const { status, body } = await asked;
      expect(status).to.equal(503);
      expect(body.error).to.match(why);
    }
    for (const path of ['/api/v1/groups?consistency=stale', '/api/v1/cluster', '/metrics']) {
      const { status, headers } = await call(removed.url, 'GET', path);
      expect(status, path).to.equal(200);
      expect(headers.warning).to.match(/^299 sluice "this node was removed from its cluster at index \d+: to/);
    }
    const readiness = await call(removed.url, 'GET', '/readyz');
    expect([readiness.status, readiness.text]).to.deep.include(503);
    expect(readiness.text).to.match(/not ready: this node was removed from its cluster at index \d+/);
    expect((await call(removed.url, 'GET', '/sync/snapshot')).status).to.equal(503);
  });

  it('refuse the old store of one that was removed, and say so on both sides', async () => {
    const leader = await cluster.leader();
    const removed = cluster.node('d');
    const started = removed.start();
    started.catch(() => undefined);
    const why = 'd was removed from this cluster: to come back it needs an empty store';
    for (const { output } of [leader, removed]) {
      const told = () => output.find((line) => line.includes(why));
      await eventually(() => expect(told()).to.include('"level":"warn"'));
    }
    expect((await call(removed.url, 'GET', '/readyz')).status).to.equal(503);
    expect(await removed.stop()).to.equal(0);
  });
});

describe('a member that lost its store', () => {
  let cluster: NodeCluster;

  before(async () => {
    cluster = await NodeCluster.start({ autoJoin: 'none' });
  });

  after(() => cluster.stop());

  it('waits to be added when no node joins by itself, and then votes in its own place', async () => {
    const leader = await cluster.leader();
    const [lost] = await cluster.followers();
    if (lost === undefined) throw new Error('no follower');
    await lost.stop('SIGKILL');
    rmSync(lost.storePath, { recursive: true });
    const started = lost.start();
    const address = await eventually(async () => {
      const candidate = (await leader.overview()).candidates.find(({ nodeId }) => nodeId === lost.nodeId);
      if (candidate === undefined) throw new Error('it has not introduced itself yet');
      return candidate.raftAddress;
    });
    const added = await leader.api.post('/cluster/members', { nodeId: lost.nodeId, address });
    expect(added.status, JSON.stringify(added.body)).to.equal(201);
    expect(added.body).to.include({ nodeId: lost.nodeId, role: 'learner' });
    await started;
    const ambiguous = await leader.api.delete(`/cluster/members/${lost.nodeId}`);
    expect(ambiguous.status).to.equal(409);
    await eventually(async () => {
      const { status } = await leader.api.post(`/cluster/members/${lost.nodeId}/replace`, { by: lost.nodeId });
      expect(status).to.equal(200);
    });
    const own = (await leader.overview()).members.filter(({ nodeId }) => nodeId === lost.nodeId);
    expect(own.map(({ role, incarnation }) => [role, incarnation])).to.deep.equal([['voter', added.body.incarnation]]);
    await lost.api.create('groups', { name: 'written in its second life' });
  });
});
