import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Greeting } from '../../raft/codec/greeting.ts';
import { encodeMessage } from '../../raft/codec/message-encoder.ts';
import { encodeFrames } from '../../raft/codec/message-frames.ts';
import type { Message } from '../../raft/core/message.ts';
import { memberId } from '../../raft/core/types.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { InterceptingLink } from '../support/intercepting-link.ts';
import { type ClusterNode, type ClusterSetup, NodeCluster } from '../support/node-cluster.ts';
import { RaftStranger } from '../support/raft-stranger.ts';
import { launchSluice, newFolder } from '../support/sluice-process.ts';

const key = 'an admin key of sixteen and more';
const keys = `  auth: { apiKeys: [{ name: ops, key: "${key}" }] }\n`;

/** An empty node of another operator's, whose settings name the victim as a peer. */
function launchStranger(victim: ClusterNode, { port, api }: { readonly port: number; readonly api: number }) {
  return launchSluice({
    folder: newFolder(),
    port: api,
    controlPlane:
      `  advertiseAddress: 127.0.0.1:${api}\n` +
      `  raft: { nodeId: s, bindAddress: "127.0.0.1:${port}", ` +
      `peers: ["${victim.nodeId}=127.0.0.1:${victim.ports.raft}", "s=127.0.0.1:${port}"] }\n`,
  });
}

const told = (output: readonly string[], text: string): string => {
  const line = output.find((each) => each.includes(text));
  if (line === undefined) throw new Error(`no line says ${JSON.stringify(text)}`);
  return line;
};

describe('a cluster with API keys and no cluster token', () => {
  let cluster: NodeCluster;

  before(async () => {
    cluster = await NodeCluster.start({ clusterToken: undefined, caller: { key }, controlPlane: keys });
  });

  after(() => cluster.stop());

  it('forms, takes writes on every node, and says nothing of strangers', async () => {
    for (const { nodeId, api } of cluster.nodes) await api.create('groups', { name: `written on ${nodeId}` });
    const { members } = await (await cluster.leader()).overview();
    expect(members.map(({ nodeId, role }) => [nodeId, role === 'learner'])).to.deep.equal([
      ['a', false],
      ['b', false],
      ['c', false],
    ]);
    for (const { output } of cluster.nodes) expect(output.join('\n')).not.to.include('from strangers');
  });

  it('takes in no empty node that does not hold the key', async () => {
    const leader = await cluster.leader();
    const [port, api] = [await freePort(), await freePort()];
    const stranger = launchStranger(leader, { port, api });
    stranger.ready.catch(() => undefined);
    await eventually(() => told(stranger.output, 'the cluster token differs'));
    const { members, candidates } = await leader.overview();
    expect([...members, ...candidates].map(({ nodeId }) => nodeId)).not.to.include('s');
    await stranger.stop('SIGKILL');
  });

  it('hears nothing of a process that does not hold the key', async () => {
    const leader = await cluster.leader();
    const victim = `127.0.0.1:${leader.ports.raft}`;
    for (const clusterToken of [undefined, 'another key of sixteen and more']) {
      const stranger = await RaftStranger.dial({ victim, clusterToken });
      await eventually(() => expect(stranger.refusals.join()).to.include('the cluster token differs'));
      stranger.close();
    }
  });
});

/** Messages that no member would send: a takeover, entries of its own, and commits that no log holds. */
function attacksOn(victim: Greeting, from: string, { term, last, lastTerm }: Standing): Message[] {
  const head = { clusterId: victim.clusterId ?? '', from, to: memberId(victim), term: term + 3 } as const;
  const entries = [
    { kind: 'command', index: last + 1, term: term + 3, time: Date.now(), payload: Buffer.from('x') },
  ] as const;
  const position = { prevIndex: last, prevTerm: lastTerm, commit: last + 1, sendSeq: 1, youAcked: 0, vouchedBoot: 0 };
  const beyond = { lastIndex: 1e9, lastTerm: 1000, nonce: 1 };
  return [
    { ...head, type: 'append', entries, ...position },
    { ...head, type: 'heartbeat', term: 1000, commit: 1e9, round: 0 },
    { ...head, type: 'vote', term: 1000, ...beyond, transfer: true },
    { ...head, type: 'timeoutNow', term: 1000 },
    { ...head, type: 'removed', term: 1000, index: 3 },
  ];
}

interface Standing {
  readonly term: number;
  readonly last: number;
  readonly lastTerm: number;
}

async function standingOf({ api }: ClusterNode): Promise<Standing> {
  const { term, log } = (await api.get<{ term: number; log: { last: number; lastTerm: number } }>('/cluster')).body;
  return { term, last: log.last, lastTerm: log.lastTerm };
}

/** The node lives on as it was, after a restart too. */
async function isUnharmed(node: ClusterNode, before: Standing): Promise<void> {
  const { term, last } = await standingOf(node);
  expect(term).to.be.below(1000);
  expect(last, 'nothing was added').to.equal(before.last);
  expect(existsSync(join(node.storePath, 'raft', 'POISON'))).to.equal(false);
  await node.stop('SIGKILL');
  await node.start();
  await node.api.create('groups', { name: `written after the attack of ${Date.now()}` });
}

const token = 'a cluster token of tests';
const unprotected: [string, ClusterSetup][] = [
  ['holds the cluster token', { clusterToken: token, autoJoin: 'none' }],
  ['comes from a private address, where nothing else is asked for', { clusterToken: undefined }],
];

for (const [who, setup] of unprotected) {
  describe(`a process that ${who} and is no member`, () => {
    let cluster: NodeCluster;

    before(async () => {
      cluster = await NodeCluster.start(setup);
    });

    after(() => cluster.stop());

    it('changes nothing on a follower or the leader by an append, a heartbeat, a vote or news of a removal', async () => {
      const [follower] = await cluster.followers();
      for (const node of [follower, await cluster.leader()]) {
        if (node === undefined) throw new Error('no follower');
        const victim = `127.0.0.1:${node.ports.raft}`;
        const stranger = await RaftStranger.dial({ victim, clusterToken: setup.clusterToken });
        const met = await stranger.meet();
        const before = await standingOf(node);
        for (const message of attacksOn(met, stranger.id, before)) stranger.send(message);
        const line = await eventually(() => told(node.output, `${stranger.id} is no member that this node knows`));
        expect(line).to.include('"level":"warn"');
        stranger.close();
        await isUnharmed(node, before);
        await cluster.leader();
      }
    });

    it('poisons no node by the name of a member', async () => {
      const leader = await cluster.leader();
      const [follower] = await cluster.followers();
      if (follower === undefined) throw new Error('no follower');
      const { members } = await leader.overview();
      const incarnation = members.find(({ nodeId }) => nodeId === leader.nodeId)?.incarnation;
      const victim = `127.0.0.1:${follower.ports.raft}`;
      const { nodeId } = leader;
      const liar = await RaftStranger.dial({
        victim,
        clusterToken: setup.clusterToken,
        nodeId,
        incarnation,
        boots: 99,
      });
      const met = await liar.meet();
      const [, heartbeat] = attacksOn(met, liar.id, await standingOf(follower));
      if (heartbeat !== undefined) liar.send(heartbeat);
      const line = await eventually(() => told(follower.output, `a message of ${liar.id} is refused`));
      expect(line).to.include('"level":"warn"').and.to.include('counts entry 1000000000 as acknowledged');
      liar.close();
      expect(existsSync(join(follower.storePath, 'raft', 'POISON'))).to.equal(false);
      for (const node of cluster.nodes) await node.stop('SIGKILL');
      await Promise.all(cluster.nodes.map((node) => node.start()));
      await follower.api.create('groups', { name: 'written by all that were attacked' });
    });
  });
}

describe('a cluster with neither token, API keys nor TLS', () => {
  let cluster: NodeCluster;

  before(async () => {
    cluster = await NodeCluster.start({ clusterToken: undefined });
  });

  after(() => cluster.stop());

  it('forms, and says on each node what to set', async () => {
    await cluster.nodes[1]?.api.create('groups', { name: 'written' });
    for (const { output } of cluster.nodes) {
      const line = told(output, 'so no node joins by itself: set controlPlane.raft.clusterToken');
      expect(line).to.include('"level":"warn"');
    }
  });

  it('takes in no empty node by itself, and one that an operator adds', async () => {
    const leader = await cluster.leader();
    const [port, api] = [await freePort(), await freePort()];
    const newcomer = launchStranger(leader, { port, api });
    newcomer.ready.catch(() => undefined);
    await eventually(async () =>
      expect((await leader.overview()).candidates.map(({ nodeId }) => nodeId)).to.include('s'),
    );
    // A leader looks once a second at the nodes it has met.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect((await leader.overview()).members.map(({ nodeId }) => nodeId)).not.to.include('s');
    const added = await leader.api.post('/cluster/members', { nodeId: 's', address: `127.0.0.1:${port}` });
    expect(added.status, JSON.stringify(added.body)).to.equal(201);
    await newcomer.ready;
    await newcomer.stop('SIGKILL');
  });
});

describe('a cluster whose token is all that protects it, with a man in the middle', () => {
  let cluster: NodeCluster;
  const links: { readonly from: string; readonly to: string; readonly link: InterceptingLink }[] = [];

  before(async () => {
    cluster = await NodeCluster.start({
      via: async (from, to, { raft }) => {
        const link = await InterceptingLink.to(raft);
        links.push({ from, to, link });
        return link.port;
      },
    });
  });

  after(async () => {
    await cluster.stop();
    await Promise.all(links.map(({ link }) => link.close()));
  });

  it('applies no message that he adds, and no node is lost', async () => {
    const leader = await cluster.leader();
    const [victim] = await cluster.followers();
    const { clusterId, members } = await leader.overview();
    const idOf = (nodeId = '') => `${nodeId}#${members.find((each) => each.nodeId === nodeId)?.incarnation}`;
    const lie = encodeMessage({
      ...{ type: 'heartbeat', clusterId, from: idOf(leader.nodeId), to: idOf(victim?.nodeId) },
      ...{ term: 1000, commit: 1e9, round: 0 },
    });
    const way = links.find(({ from, to }) => from === leader.nodeId && to === victim?.nodeId);
    if (way === undefined || victim === undefined) throw new Error('no link to the follower');
    await eventually(() => expect(way.link.connections).to.be.greaterThan(0));
    way.link.inject(Buffer.concat(encodeFrames(lie, 'urgent')));
    expect(await eventually(() => told(victim.output, 'sealed record'))).to.include('"level":"warn"');
    await victim.api.create('groups', { name: 'written on the victim' });
    await victim.stop('SIGKILL');
    await victim.start();
    await victim.api.create('groups', { name: 'written on the victim after its restart' });
  });

  it('shows him nothing of a secret that is written', async () => {
    const seen: Buffer[] = [];
    for (const { link } of links) {
      link.meddle = (bytes) => {
        seen.push(Buffer.from(bytes));
        return [bytes];
      };
    }
    await (await cluster.leader()).api.create('secrets', { name: 'canary', value: 'the canary of a secret' });
    await eventually(() => expect(Buffer.concat(seen).length).to.be.greaterThan(0));
    for (const { api } of cluster.nodes) {
      const { body } = await api.get<{ name: string }[]>('/secrets');
      expect(body.map(({ name }) => name)).to.deep.equal(['canary']);
    }
    expect(Buffer.concat(seen).toString('latin1')).not.to.include('canary');
  });
});
