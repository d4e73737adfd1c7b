// Replay (contract.md §3.4, POST /diff) over three nodes and two proxies as real processes: each answers for its own requests.

import { expect } from 'chai';
import type { ReplayReport } from '../../src/model/answers/diff-answers.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { launchProxy, type ProxyProcess } from '../support/proxy-process.ts';

const telemetry = 'telemetry: { recentRequestHeaders: [x-kind] }\n';

describe('a replay over nodes and proxies', () => {
  let cluster: NodeCluster;
  let nodes: readonly ClusterNode[];
  let proxies: ProxyProcess[] = [];
  let urls: readonly string[];

  const diffOn = async (node: ClusterNode | undefined, replay: object = {}) => {
    const answer = await node?.api.post<{ replay: ReplayReport; unreachable: string[] }>('/diff', { replay });
    expect(answer?.status, JSON.stringify(answer?.body)).to.equal(200);
    return answer?.body as { replay: ReplayReport; unreachable: string[] };
  };

  before(async () => {
    cluster = await NodeCluster.start({ clusterToken: 'a token of sixteen characters', more: telemetry });
    nodes = cluster.nodes;
    const { api } = cluster.node('a');
    const port = await freePort();
    await api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port });
    await api.create('routes', { id: 'all', name: 'all', match: { pathPrefix: '/' }, directResponse: { status: 200 } });
    await api.activateAs('v1');
    const controlPlanes = [cluster.node('b').url];
    proxies = ['11', '12'].map((at) =>
      launchProxy({ controlPlanes, proxy: `  id: p${at}\n  bindAddress: 127.0.0.${at}`, more: telemetry }),
    );
    await eventually(() => Promise.all(proxies.map((proxy) => proxy.ready())));
    urls = [...nodes.map(({ proxyAddress }) => proxyAddress), '127.0.0.11', '127.0.0.12'].map(
      (address) => `http://${address}:${port}`,
    );
    for (const [at, url] of urls.entries())
      for (let i = 0; i < 10; i++)
        await eventually(async () => {
          const { status } = await call(url, 'GET', `/${i % 2 === 0 ? 'cart' : 'other'}/${at}`, {
            headers: { 'x-kind': at % 2 === 0 ? 'gold' : 'lead' },
          });
          expect(status).to.equal(200);
        });
    await api.create('routes', {
      id: 'cart',
      name: 'cart',
      match: { pathPrefix: '/cart', headers: [{ name: 'x-kind', value: 'gold' }] },
      directResponse: { status: 200 },
    });
  });

  after(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop('SIGKILL')));
    await cluster.stop();
  });

  it('is the same on every node, with the requests of all of them and of the proxies', async () => {
    for (const node of nodes) {
      await eventually(async () => {
        const { replay, unreachable } = await diffOn(node, { where: 'path.matches("^/(cart|other)/")' });
        expect([replay.requests, replay.same, unreachable]).to.deep.equal([50, 35, []]);
        expect(replay.moved.map(({ from, to, requests }) => [from?.id, to?.id, requests])).to.deep.equal([
          ['all', 'cart', 15],
        ]);
        expect(replay.undecided).to.deep.equal([]);
      });
    }
  });

  it('takes the newest of all, and a filter that every process evaluates', async () => {
    const { replay } = await diffOn(nodes[2], { limit: 20, where: 'path.matches("^/(cart|other)/")' });
    expect(replay.requests).to.equal(20);
    const own = await diffOn(nodes[2], { where: 'path.endsWith("/4")' });
    expect([own.replay.requests, own.replay.moved[0]?.requests]).to.deep.equal([10, 5]);
  });

  it('names a proxy that does not answer any more, and a node that is gone', async () => {
    await proxies[0]?.stop('SIGKILL');
    await eventually(async () => {
      const { replay, unreachable } = await diffOn(nodes[0], { where: 'path.endsWith("/3") || path.endsWith("/4")' });
      expect([replay.requests, unreachable]).to.deep.equal([10, ['p11']]);
    });
    await cluster.node('c').stop('SIGKILL');
    await eventually(async () => {
      expect((await diffOn(nodes[0])).unreachable).to.include.members(['c', 'p11']);
    });
  });
});
