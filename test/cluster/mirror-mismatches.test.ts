// Mismatches of mirrors (contract.md §3.10) over three nodes as real processes: any of them lists those of all.
import { expect } from 'chai';
import type { MirrorMismatch } from '../../src/model/answers/request-answers.ts';
import { Client } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

describe('mismatches of mirrors over three nodes', () => {
  let cluster: NodeCluster;
  let upstreams: readonly Upstream[] = [];

  before(async () => {
    upstreams = await Promise.all(
      ['primary', 'other'].map((name) => startUpstream(name, (_request, response) => void response.end(name))),
    );
    cluster = await NodeCluster.start({ clusterToken: 'a token of sixteen characters' });
    const { api } = cluster.node('a');
    const port = await freePort();
    await api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port });
    for (const [at, { port }] of upstreams.entries())
      await api.create('destinations', { id: `d${at}`, name: `d${at}`, host: '127.0.0.1', port });
    await api.create('routes', {
      ...{ id: 'r', name: 'r', match: { pathPrefix: '/' } },
      forward: { destinations: [{ destinationId: 'd0' }], mirror: { destinationId: 'd1', compare: {} } },
    });
    await api.activateAs('v1');
    // Until each node has compared one: a copy may be given up where the machine is busy.
    await eventually(async () => {
      for (const { nodeId, proxyAddress } of cluster.nodes)
        expect((await call(`http://${proxyAddress}:${port}`, 'GET', `/${nodeId}`)).status).to.equal(200);
      expect(nodesOf(await listOn(cluster.node('a')))).to.have.members(['a', 'b', 'c']);
    });
  });
  after(async () => {
    await cluster?.stop();
    for (const each of upstreams) await each.close();
  });

  const nodesOf = ({ list }: { readonly list: readonly MirrorMismatch[] }) => [
    ...new Set(list.map(({ node }) => node)),
  ];
  const listOn = async ({ url }: ClusterNode) => {
    const response = await fetch(`${url}/api/v1/mirrors/mismatches?limit=1000`);
    const list = (await response.json()) as readonly MirrorMismatch[];
    return { list, warning: response.headers.get('warning') };
  };

  it('are those of all nodes on each of them, by the name of the node, newest first', async () => {
    for (const node of cluster.nodes)
      await eventually(async () => {
        const { list, warning } = await listOn(node);
        expect(warning).to.equal(null);
        expect(nodesOf({ list })).to.have.members(['a', 'b', 'c']);
        for (const { node: of, path } of list) expect(path).to.equal(`/${of}`);
        const times = list.map(({ time }) => time);
        expect(times).to.deep.equal(times.toSorted().reverse());
      });
  });

  it('stand once in the list of a command line that asks several nodes', async () => {
    const client = new Client({ servers: cluster.nodes.map(({ url }) => url) });
    await eventually(async () => {
      const listed: unknown = JSON.parse(
        await client.output('requests', 'mismatches', '--limit', '1000', '-o', 'json'),
      );
      const { list } = await listOn(cluster.node('b'));
      expect(listed).to.have.length(list.length);
      expect(listed).to.have.deep.members([...list]);
    });
  });

  it('leave out those of a node that does not answer, which a warning names', async () => {
    await cluster.node('c').stop('SIGKILL');
    await eventually(async () => {
      const { list, warning } = await listOn(cluster.node('a'));
      expect(warning).to.equal('299 sluice "node c does not answer: its mismatches are left out"');
      expect(nodesOf({ list })).to.have.members(['a', 'b']);
    });
  });
});
