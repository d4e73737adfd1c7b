// The fleet of a cluster (fleet.md §4–§6): three nodes and two proxies as real processes.

import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import type { Convergence, FleetView } from '../../src/model/answers/fleet-answers.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { launchProxy, type ProxyProcess } from '../support/proxy-process.ts';

describe('the fleet of a cluster', () => {
  let cluster: NodeCluster;
  let nodes: readonly ClusterNode[];
  const proxies: ProxyProcess[] = [];

  before(async () => {
    cluster = await NodeCluster.start({ clusterToken: 'a token of sixteen characters' });
    nodes = cluster.nodes;
    const [a, b] = nodes;
    if (a === undefined || b === undefined) throw new Error('no nodes');
    const port = await freePort();
    await a.api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port });
    await a.api.create('routes', { id: 'r', name: 'r', directResponse: { status: 200 } });
    await a.api.activateAs('v1');
    proxies.push(
      launchProxy({ controlPlanes: [a.url], proxy: '  id: p1\n  labels: { site: fra }\n  bindAddress: 127.0.0.11' }),
      launchProxy({ controlPlanes: [b.url, a.url], proxy: '  id: p2\n  bindAddress: 127.0.0.12' }),
    );
    await Promise.all(proxies.map((proxy) => proxy.ready()));
  });

  after(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop('SIGKILL')));
    await cluster.stop();
  });

  const fleetOn = async (node: ClusterNode | undefined): Promise<FleetView> =>
    (await node?.api.get<FleetView & Record<string, unknown>>('/fleet'))?.body as FleetView;

  const activate = async (node: ClusterNode | undefined, name: string, query: string): Promise<Convergence> => {
    const id = await node?.api.create('snapshots', { name });
    const answer = await node?.api.post<{ convergence: Convergence }>(`/snapshots/${id}/activate?${query}`);
    expect(answer?.status).to.equal(200);
    return answer?.body.convergence as Convergence;
  };

  it('is the same on every node', async () => {
    for (const node of nodes) {
      await eventually(async () => {
        const { proxies: all, summary, unreachableNodes } = await fleetOn(node);
        expect(all.map(({ id, embedded, state }) => [id, embedded, state])).to.deep.equal([
          ['a', true, 'current'],
          ['b', true, 'current'],
          ['c', true, 'current'],
          ['p1', false, 'current'],
          ['p2', false, 'current'],
        ]);
        expect([summary.total, summary.current, unreachableNodes]).to.deep.equal([5, 5, []]);
      });
    }
    const { proxies: all } = await fleetOn(nodes[2]);
    expect(new Set(all.map(({ installed }) => installed?.sha256)).size).to.equal(1);
    expect(all.find(({ id }) => id === 'p1')).to.deep.include({ labels: { site: 'fra' }, node: 'a' });
    expect(all.flatMap(({ listeners }) => listeners.map(({ state }) => state))).to.deep.equal(Array(5).fill('open'));
  });

  it('is waited for by an activation on any node, the proxies within the nodes included', async () => {
    for (const [at, node] of nodes.entries()) {
      const convergence = await activate(node, `waited-${at}`, 'wait=all&timeout=20s');
      expect(convergence).to.deep.include({ wanted: 5, installed: 5, refused: 0, pending: 0, pendingProxies: [] });
    }
  });

  it('hears a proxy at a node that does not hold its stream', async () => {
    const [a, b] = nodes;
    const headers = { 'x-sluice-proxy': 'by-hand', 'x-sluice-boot': 'x' };
    const request = get(`${a?.url}/sync/snapshot`, { agent: false, headers });
    const [stream] = (await once(request, 'response')) as [IncomingMessage];
    stream.resume();
    const token = stream.headers['x-sluice-ack'];
    const index = (await fleetOn(a)).proxies[0]?.wanted?.index;
    const word = { token, boot: 'x', index, sha256: '', of: 'stable', state: 'installed', tookMs: 0 };
    expect((await b?.api.post('/sync/ack', { ...word, problems: [], listeners: [] }))?.status).to.equal(204);
    const [shown] = (await fleetOn(b)).proxies.filter(({ id }) => id === 'by-hand');
    expect(shown).to.deep.include({ state: 'current', node: 'a' });
    stream.destroy();
    await eventually(async () => {
      const [gone] = (await fleetOn(b)).proxies.filter(({ id }) => id === 'by-hand');
      expect(gone?.state).to.equal('disconnected');
    });
    expect((await b?.api.post('/sync/ack', { ...word, problems: [], listeners: [] }))?.status).to.equal(409);
    expect((await b?.api.delete('/fleet/by-hand'))?.status).to.equal(204);
    expect((await fleetOn(a)).proxies.some(({ id }) => id === 'by-hand')).to.equal(false);
  });

  it('names a node that is away, goes on without it, and waits for its proxy', async () => {
    const [a, b] = nodes;
    await b?.stop('SIGKILL');
    await eventually(async () => {
      const { proxies: all, unreachableNodes } = await fleetOn(a);
      expect(unreachableNodes).to.deep.equal(['b']);
      expect(all.find(({ id }) => id === 'p2')).to.deep.include({ state: 'current', node: 'a' });
    });
    await cluster.leader();
    const convergence = await activate(a, 'without-b', 'wait=all&timeout=1500ms');
    expect(convergence).to.deep.include({ wanted: 5, installed: 4, pendingProxies: ['b'] });
    expect(await activate(a, 'most', 'wait=75%25&timeout=20s')).to.deep.include({ wanted: 4, installed: 4 });
    await b?.start();
    await eventually(async () => expect((await fleetOn(a)).unreachableNodes).to.deep.equal([]));
  });
});
