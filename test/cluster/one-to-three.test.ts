// A node that ran alone, since before there was a log even, becomes the first of three: nothing is lost, and the others
// catch up by a checkpoint, because no log holds what came before it.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { startSluice } from '../support/sluice-process.ts';
import { writeStoreBeforeRaft } from '../support/store-before-raft.ts';
import { stateOf } from '../support/stored-state.ts';

const count = 40;
const route = (id: string) => ({ id, name: id, directResponse: { status: 200 } });

interface Overview {
  readonly members: readonly { readonly nodeId: string; readonly role: string }[];
}

describe('one node that becomes three', () => {
  let cluster: NodeCluster;
  let nodes: readonly ClusterNode[];

  before(async () => {
    cluster = await NodeCluster.prepare();
    ({ nodes } = cluster);
  });

  after(() => cluster.stop());

  it('takes over a store from before the log, with everything in it', async () => {
    const { storePath } = cluster.node('a');
    await writeStoreBeforeRaft(storePath, count);
    for (const name of ['first', 'second']) {
      const alone = await startSluice({ folder: dirname(storePath) });
      const api = apiClient(alone.url);
      expect((await api.post('/routes', route(name))).status).to.equal(201);
      expect((await api.get<object[]>('/routes')).body.length).to.be.at.least(count + 1);
      // An activation is in the store when it is answered, with all before it.
      await api.activateAs(name);
      await alone.stop('SIGKILL');
    }
    expect((await stateOf(storePath)).routes).to.equal(count + 2);
  });

  it('goes on under its new name when it is told of a cluster', async () => {
    await nodes[0]?.start();
    expect((await nodes[0]?.api.get<object[]>('/routes'))?.body).to.have.length(count + 2);
    expect(await membersOf(nodes[0])).to.deep.equal(['a']);
  });

  it('takes two empty nodes in, which catch up by a checkpoint', async () => {
    await Promise.all(nodes.slice(1).map((node) => node.start()));
    await eventually(async () => expect(await membersOf(nodes[0])).to.deep.equal(['a', 'b', 'c']));
    for (const node of nodes.slice(1)) {
      expect((await node.api.get<object[]>('/routes')).body).to.have.length(count + 2);
      expect(node.output.join('\n')).to.include('by a checkpoint');
      const state = join(node.storePath, 'state');
      await eventually(() => expect(readdirSync(state)).to.deep.equal(['2']));
      expect(existsSync(join(state, '2', 'CURRENT'))).to.equal(true);
    }
  });

  it('lets them vote, and survives its own loss', async () => {
    for (const { nodeId } of nodes.slice(1)) {
      await eventually(async () => {
        const { status, body } = (await nodes[0]?.api.post(`/cluster/members/${nodeId}/promote`)) ?? {};
        expect(status, JSON.stringify(body)).to.equal(200);
      });
    }
    await nodes[0]?.stop('SIGKILL');
    expect((await nodes[1]?.api.post('/routes', route('third')))?.status).to.equal(201);
    expect((await nodes[2]?.api.get<object[]>('/routes'))?.body).to.have.length(count + 3);
    await nodes[0]?.start();
    expect((await nodes[0]?.api.get<object[]>('/routes'))?.body).to.have.length(count + 3);
  });

  it('restarts on the generation that the checkpoint made, and holds the same state everywhere', async () => {
    await nodes[1]?.stop();
    await nodes[1]?.start();
    await nodes[1]?.api.post('/routes', route('last'));
    const snapshot = await nodes[1]?.api.create('snapshots', { name: 'last' });
    const last = await nodes[1]?.api.post(`/snapshots/${snapshot}/activate`);
    const revision = Number(last?.headers.get('x-sluice-revision'));
    for (const { api } of nodes) await api.get(`/routes?minRevision=${revision}`);
    await Promise.all(nodes.map((node) => node.stop('SIGKILL')));
    const states = await Promise.all(nodes.map(({ storePath }) => stateOf(storePath)));
    expect(new Set(states.map(({ applied, hash }) => `${applied} ${hash}`)).size).to.equal(1);
    expect(states[0]?.routes).to.equal(count + 4);
  });
});

async function membersOf(node: ClusterNode | undefined): Promise<string[] | undefined> {
  return (await node?.api.get<Overview>('/cluster'))?.body.members.map(({ nodeId }) => nodeId).sort();
}
