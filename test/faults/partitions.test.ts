// Networks that lose one direction, one node, or the way between two nodes (raft.md C6, row 4).
import { expect } from 'chai';
import { LinkedCluster } from '../support/linked-cluster.ts';
import { drawnRandom, pause, repeatFor, say, secondsOf } from '../support/long-run.ts';
import type { ClusterNode } from '../support/node-cluster.ts';
import { RegisterClients } from '../support/register-clients.ts';
import { expectLinearizable, expectSameState } from '../support/verdict.ts';

describe('partitions under load', function () {
  this.timeout(900_000);
  const random = drawnRandom();
  let linked: LinkedCluster;

  before(async () => {
    linked = await LinkedCluster.start();
    await linked.cluster.leader();
  });

  after(() => linked.stop());

  it('of one direction, of one node, and with a bridge leave a history in order, and writes within 5 s', async () => {
    const { cluster } = linked;
    const clients = RegisterClients.start({ nodes: cluster.nodes.map(({ url }) => url), random });
    const kinds = [isolateLeader, silenceLeader, deafenLeader, bridge, loseRelayedAnswers, slowDown];
    const waits: number[] = [];
    await repeatFor(secondsOf('PARTITIONS', 90), async (round) => {
      const leader = await cluster.leader();
      const others = cluster.nodes.filter((node) => node !== leader);
      const from = clients.acknowledgedAt.length;
      const cutAt = performance.now();
      kinds[round % kinds.length]?.(linked, leader, others);
      await pause(6_000);
      // The first acknowledgements may have been on their way.
      const later = clients.acknowledgedAt.slice(from).find((time) => time > cutAt + 200);
      waits.push((later ?? Number.POSITIVE_INFINITY) - cutAt);
      linked.heal();
      await pause(500);
    });
    say(`waits for a write: ${waits.map((wait) => Math.round(wait)).join(', ')} ms`);
    say(JSON.stringify(await expectLinearizable(clients)));
    for (const wait of waits) expect(wait).to.be.at.most(5_000);
    await expectSameState(cluster);
  });
});

type Fault = (linked: LinkedCluster, leader: ClusterNode, others: readonly ClusterNode[]) => void;

const isolateLeader: Fault = (linked, leader) => linked.isolate(leader);

/** Cuts messages from the leader: it hears the others, and they do not hear it. */
const silenceLeader: Fault = (linked, leader, others) => {
  for (const { nodeId } of others) linked.pass(leader.nodeId, nodeId, { state: 'cut' });
};

/** Cuts messages to the leader: the others hear it, and it does not hear them. */
const deafenLeader: Fault = (linked, leader, others) => {
  for (const { nodeId } of others) linked.pass(nodeId, leader.nodeId, { state: 'cut' });
};

/** The leader and one other know of each other through the third alone. */
const bridge: Fault = (linked, leader, [other]) => {
  if (other !== undefined) linked.separate(leader.nodeId, other.nodeId);
};

const loseRelayedAnswers: Fault = (linked, leader) => linked.passRelayed(leader, { back: { state: 'cut' } });

const slowDown: Fault = (linked, leader, others) => {
  for (const { nodeId } of others) linked.pass(leader.nodeId, nodeId, { state: 'open', delayMs: 150 });
};
