// An activation that is not confirmed while a clock jumps by an hour, the leader dies, and all nodes start again with clocks that
// were set back by an hour, as real processes with clocks that the test sets.
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { call } from '../support/http-call.ts';
import { needsPreload } from '../support/needs.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { SetClocks } from '../support/set-clocks.ts';

const hourMs = 3_600_000;
const confirmMs = 60_000;
const restartMs = 45_000;

describe('a confirmation while clocks jump and nodes die', () => {
  const clocks = new SetClocks();
  let cluster: NodeCluster;

  before(async function () {
    needsPreload(this);
    cluster = await NodeCluster.start({ env: clocks.env });
  });

  after(() => cluster?.stop());

  const newestOf = async (node: ClusterNode): Promise<{ name: string; reason: string } | undefined> => {
    const { status, json, text } = await call(node.url, 'GET', '/api/v1/activations?limit=1');
    expect(status, text).to.equal(200);
    return (json as { name: string; reason: string }[])[0];
  };

  it('goes back when its time is over, counted over the restart of all', async () => {
    const leader = await cluster.leader();
    const [asked = leader] = await cluster.followers();
    await asked.api.activateAs('first');
    const id = await asked.api.create('snapshots', { name: 'second' });
    await eventually(async () => {
      const answer = await asked.api.post(`/snapshots/${id}/activate?confirmWithin=${confirmMs / 1_000}s`);
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    });
    const beganMs = performance.now();
    clocks.set(leader, hourMs);
    await eventually(async () => expect((await asked.overview()).leader).to.not.equal(leader.nodeId));
    await leader.stop('SIGKILL');
    const next = await cluster.leader();
    await next.stop('SIGKILL');
    await Promise.all([leader.start(), next.start()]);
    await cluster.leader();
    expect(await newestOf(asked)).to.include({ name: 'second', reason: 'activated' });
    await new Promise((resolve) => setTimeout(resolve, restartMs - (performance.now() - beganMs)));
    const endedMs = performance.now();
    await Promise.all(cluster.nodes.map((node) => node.stop('SIGKILL')));
    for (const node of cluster.nodes) clocks.set(node, -hourMs);
    await Promise.all(cluster.nodes.map((node) => node.start()));
    const awayMs = performance.now() - endedMs;
    await eventually(async () => {
      const newest = await newestOf(asked);
      expect(newest).to.include({ name: 'first', reason: 'not confirmed' });
    });
    // Five seconds are the promise; the machine is shared with others. Counted anew from the restart it would be three quarters of a minute.
    expect(performance.now() - beganMs - awayMs).to.be.within(confirmMs - awayMs - 2_000, confirmMs + 15_000);
  });
});
