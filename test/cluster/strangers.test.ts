import { expect } from 'chai';
import { encodeFrames } from '../../raft/codec/frames.ts';
import { encodeMessage } from '../../raft/codec/message-encoder.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { InterceptingLink } from '../support/intercepting-link.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
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
