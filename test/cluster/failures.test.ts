// Three real processes that are one cluster and lose one of them: by a kill, or by a rolling restart.
import { expect } from 'chai';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { stateOf } from '../support/stored-state.ts';

const route = (id: string, version = 0) => ({ id, name: id, directResponse: { status: 200, body: String(version) } });

describe('three nodes that lose one', () => {
  let cluster: NodeCluster;
  let nodes: readonly ClusterNode[];

  before(async () => {
    cluster = await NodeCluster.start();
    ({ nodes } = cluster);
  });

  after(() => cluster.stop());

  it('are founded once, by one of them', () => {
    const ids = nodes.map(({ output }) => /(?:creates|joins) cluster ([0-9a-f]+)/.exec(output.join('\n'))?.[1]);
    expect(new Set(ids).size).to.equal(1);
    expect(nodes.filter(({ output }) => output.join('\n').includes('creates cluster'))).to.have.length(1);
  });

  it('lose no answered write when the leader is killed, and go on within seconds', async () => {
    const leader = await cluster.leader();
    const others = nodes.filter((node) => node !== leader);
    const answered: string[] = [];
    const writers = others.map((node, at) => writeUntil(node, `killed-${at}`, 30, answered));
    await leader.stop('SIGKILL');
    await Promise.all(writers);
    for (const { api } of others) await expectAll(api, answered);
    await leader.start();
    await expectAll(leader.api, answered);
  });

  it('answer every write while one after the other is restarted', async () => {
    const answered: string[] = [];
    for (const [at, node] of nodes.entries()) {
      const others = nodes.filter((each) => each !== node);
      const writers = others.map((other, of) => writeUntil(other, `rolled-${at}-${of}`, 15, answered));
      expect(await node.stop()).to.equal(0);
      await node.start();
      await Promise.all(writers);
    }
    expect(answered).to.have.length(90);
    for (const { api } of nodes) await expectAll(api, answered);
  });

  it('hold the same state in the end', async () => {
    // What is activated is in the store of a node before it shows it, and so is all that came before.
    const snapshot = await nodes[0]?.api.create('snapshots', { name: 'last' });
    const last = await nodes[0]?.api.post(`/snapshots/${snapshot}/activate`);
    const revision = Number(last?.headers.get('x-sluice-revision'));
    for (const { api } of nodes) await api.get(`/routes?minRevision=${revision}`);
    await Promise.all(nodes.map((node) => node.stop('SIGKILL')));
    const states = await Promise.all(nodes.map(({ storePath }) => stateOf(storePath)));
    expect(states[0]?.applied).to.be.at.least(revision);
    expect(new Set(states.map(({ applied, hash }) => `${applied} ${hash}`)).size).to.equal(1);
  });
});

/** Creates `count` routes one after the other; every one must be answered with 201, late perhaps. */
async function writeUntil({ api }: ClusterNode, name: string, count: number, answered: string[]): Promise<void> {
  for (let at = 0; at < count; at++) {
    const id = `${name}-${at}`;
    const { status, body } = await api.post('/routes', route(id));
    expect(status, JSON.stringify(body)).to.equal(201);
    answered.push(id);
  }
}

async function expectAll(api: ClusterNode['api'], ids: readonly string[]): Promise<void> {
  const { body } = await api.get<{ id: string }[]>('/routes');
  expect(body.map(({ id }) => id)).to.include.members([...ids]);
}
