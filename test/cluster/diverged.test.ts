// A node whose state is not what the others agreed on: no check of its own disk can find that, for everything fits
// together. It is found by comparison, and the node stops.
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { memberId } from '../../raft/index.ts';
import { LeaderConnections } from '../../src/cluster/relay/leader-connections.ts';
import { relayKey } from '../../src/cluster/relay/relay-credential.ts';
import { HashClient } from '../../src/cluster/state-hash/hash-client.ts';
import type { Hashes } from '../../src/cluster/state-hash/hash-verdict.ts';
import { systemClock } from '../../src/util/clock.ts';
import { eventually } from '../support/eventually.ts';
import { call } from '../support/http-call.ts';
import { sampleOf } from '../support/metric-lines.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { newNonce } from '../support/relay-bed.ts';
import { runSluice } from '../support/sluice-process.ts';
import { addUnagreed } from '../support/stored-state.ts';

/** State hashes by node and index, asked as one member asks another. */
async function historiesOf({ nodes }: NodeCluster): Promise<(readonly [string, Hashes])[]> {
  const connections = new LeaderConnections({ tls: undefined, clock: systemClock });
  const [{ clusterId, members } = { clusterId: '', members: [] }] = await Promise.all(nodes.map((n) => n.overview()));
  const key = relayKey('a cluster token of tests');
  const client = new HashClient({ connections, clusterId: () => clusterId, key, clock: systemClock, newNonce });
  const asked = members.map(async ({ nodeId, incarnation }) => {
    const clientAddress = `127.0.0.1:${nodes.find((node) => node.nodeId === nodeId)?.ports.api}`;
    return [
      nodeId,
      (await client.ask({ id: memberId({ nodeId, incarnation }), address: '', clientAddress })) ?? new Map(),
    ] as const;
  });
  return await Promise.all(asked).finally(() => connections.close());
}

describe('a node whose state is another one', () => {
  let cluster: NodeCluster;
  let diverged: ClusterNode;
  let others: readonly ClusterNode[];

  before(async () => {
    cluster = await NodeCluster.start();
    const { api } = await cluster.leader();
    await api.create('groups', { name: 'agreed' });
    const [follower] = await cluster.followers();
    if (follower === undefined) throw new Error('no follower');
    diverged = follower;
    others = cluster.nodes.filter((node) => node !== diverged);
  });

  after(() => cluster.stop());

  const metrics = async ({ url }: ClusterNode): Promise<string> => (await call(url, 'GET', '/metrics')).text;

  it('is alike everywhere as long as nothing has happened', async () => {
    for (const node of cluster.nodes)
      await eventually(async () => {
        const text = await metrics(node);
        expect(sampleOf(text, 'sluice_raft_state_hash_compared_index')).to.be.above(0);
        expect(sampleOf(text, 'sluice_raft_state_hash_mismatches_total')).to.equal(0);
      });
  });

  it('is alike at every index where two of them ended a batch, while all of them take writes', async () => {
    const seen = new Map<number, Map<string, string>>();
    const state = { over: false };
    const writers = cluster.nodes.flatMap(({ api, nodeId }) =>
      ['x', 'y', 'z'].map(async (each) => {
        for (let at = 0; !state.over; at++) await api.create('groups', { name: `${nodeId}-${each}-${at}` });
      }),
    );
    await eventually(async () => {
      for (const [nodeId, hashes] of await historiesOf(cluster))
        for (const [index, hash] of hashes) seen.set(index, (seen.get(index) ?? new Map()).set(nodeId, hash));
      const shared = [...seen.values()].filter((hashes) => hashes.size > 1);
      for (const hashes of shared) expect(new Set(hashes.values()).size).to.equal(1);
      expect(shared).to.have.length.above(300);
    });
    state.over = true;
    await Promise.all(writers);
  });

  it('finds itself alone, and takes and shows nothing more', async () => {
    expect(await diverged.stop()).to.equal(0);
    await addUnagreed(diverged.storePath, 'rogue');
    await diverged.start();
    await eventually(async () => {
      expect((await call(diverged.url, 'GET', '/readyz')).status).to.equal(503);
      const { status, json } = await call(diverged.url, 'GET', '/api/v1/routes');
      expect(status).to.equal(503);
      expect(json)
        .to.have.property('error')
        .that.matches(/at index \d+ is not what a majority holds/);
    });
    expect((await diverged.api.post('/groups', { name: 'unheard' })).status).to.equal(503);
    const text = await metrics(diverged);
    expect(sampleOf(text, 'sluice_raft_poisoned')).to.equal(1);
    expect(sampleOf(text, 'sluice_raft_state_hash_mismatches_total')).to.equal(1);
  });

  it('costs the others nothing', async () => {
    for (const { api } of others) {
      await api.create('groups', { name: `after, on ${Math.random()}` });
      expect((await api.get<object[]>('/routes')).body).to.deep.equal([]);
    }
  });

  it('is refused at the next start', async () => {
    await diverged.stop();
    const settings = join(dirname(diverged.storePath), 'sluice.yaml');
    const { code, stderr } = await runSluice(['--config', settings]);
    expect(code).to.equal(1);
    expect(stderr).to.match(/is not what a majority holds: replace this node/);
  });
});
