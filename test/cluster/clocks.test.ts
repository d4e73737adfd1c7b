// Nodes whose wall clocks are wrong (raft.md A23), as real processes with a clock that the test sets.
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { call } from '../support/http-call.ts';
import { needsPreload } from '../support/needs.ts';
import { NodeCluster } from '../support/node-cluster.ts';
import { SetClocks } from '../support/set-clocks.ts';

const hour = 3_600_000;

describe('a node whose clock is wrong', () => {
  const clocks = new SetClocks();
  let cluster: NodeCluster;

  before(async function () {
    needsPreload(this);
    cluster = await NodeCluster.start({ env: clocks.env });
  });

  after(() => cluster?.stop());

  it('is named with its seconds in log, metrics and overview, and a write through it is refused at once', async () => {
    const leader = await cluster.leader();
    const [wrong] = await cluster.followers();
    if (wrong === undefined) throw new Error('no follower');
    clocks.set(wrong, 45_000);
    const line = new RegExp(`"level":"warn".*the clock of ${wrong.nodeId} is 4[45] s ahead of that of this node`);
    await eventually(() => expect(leader.output.join('\n')).to.match(line));
    const metrics = await call(leader.url, 'GET', '/metrics');
    expect(metrics.text).to.match(new RegExp(`sluice_clock_offset_seconds\\{peer="${wrong.nodeId}"\\} 4[45]`));
    const { text } = await call(leader.url, 'GET', '/api/v1/cluster');
    expect(text).to.match(/"clockOffsetSeconds":4[45]/);
    const { status, body } = await wrong.api.post('/groups', { name: 'refused' });
    expect([status, String(body.error)]).to.deep.include(503);
    expect(body.error).to.match(/the clocks of the two nodes differ by 4[45] s/);
    clocks.set(wrong, 0);
    await eventually(() => wrong.api.create('groups', { name: 'taken' }));
  });

  it('does not stay leader, and an hour that its clock jumped for two seconds does not last', async () => {
    const leader = await cluster.leader();
    const others = cluster.nodes.filter((node) => node !== leader);
    const [asked] = others;
    await leader.api.activateAs('v1');
    const id = await leader.api.create('snapshots', { name: 'v2' });
    clocks.set(leader, hour);
    for (let at = 0; at < 5; at++) await leader.api.post('/groups', { name: `jumped-${at}` }).catch(() => undefined);
    await eventually(async () =>
      expect((await asked?.overview())?.leader).to.be.oneOf(others.map(({ nodeId }) => nodeId)),
    );
    clocks.set(leader, 0);
    const activated = await eventually(async () => {
      const answer = await asked?.api.post(`/snapshots/${id}/activate?confirmWithin=5s`);
      expect(answer?.status, JSON.stringify(answer?.body)).to.equal(200);
      return performance.now();
    });
    const latest = async () =>
      (await asked?.api.get<{ reason: string; at: string }[]>('/activations?limit=1'))?.body[0];
    await eventually(async () => expect((await latest())?.reason).to.equal('not confirmed'));
    expect(performance.now() - activated).to.be.within(3_500, 60_000);
    expect(Date.parse((await latest())?.at ?? '') - Date.now()).to.be.below(31_000);
  });
});
