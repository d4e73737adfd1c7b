// Proxies whose node was removed or is cut off, and what receipts say of them (fleet.md §3, §6), with real processes.

import { expect } from 'chai';
import type { Convergence, FleetView } from '../../src/model/answers/fleet-answers.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { LinkedCluster } from '../support/linked-cluster.ts';
import type { ClusterNode } from '../support/node-cluster.ts';
import { launchProxy, type ProxyProcess } from '../support/proxy-process.ts';

describe('proxies of a node that is lost', () => {
  let linked: LinkedCluster;
  let proxy: ProxyProcess | undefined;
  let lost: ClusterNode;
  let others: readonly ClusterNode[];

  beforeEach(async () => {
    linked = await LinkedCluster.start({
      controlPlane: `  auth: { apiKeys: [{ name: ops, key: ${key} }] }\n`,
      caller: { key },
    });
    const [follower] = await linked.cluster.followers();
    if (follower === undefined) throw new Error('no follower');
    lost = follower;
    others = linked.cluster.nodes.filter((node) => node !== lost);
    const port = await freePort();
    await lost.api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port });
    await lost.api.activateAs('v1');
  });

  afterEach(async () => {
    await proxy?.stop('SIGKILL');
    await linked.stop();
  });

  const follow = async (...nodes: readonly ClusterNode[]): Promise<void> => {
    const more = `  id: p\n  bindAddress: 127.0.0.11\n  apiKey: ${key}`;
    proxy = launchProxy({ controlPlanes: nodes.map(({ url }) => url), proxy: more });
    await proxy.ready();
    const place = await eventually(() => placeOf(lost));
    lost = linked.cluster.node(place);
    others = linked.cluster.nodes.filter((node) => node !== lost);
    // Long enough for the others to have asked which proxies there are.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
  };

  const placeOf = async (asked: ClusterNode | undefined): Promise<string> => {
    const { body } = (await asked?.api.get<FleetView & Record<string, unknown>>('/fleet')) ?? {};
    const live = body?.proxies.find(({ id, state }) => id === 'p' && state !== 'disconnected');
    if (live === undefined) throw new Error('no node has the proxy');
    return live.node;
  };

  const activate = async (name: string, timeout: string): Promise<Convergence> => {
    const [asked] = others;
    const id = await eventually(() => asked?.api.create('snapshots', { name }));
    const path = `/snapshots/${id}/activate?wait=all&timeout=${timeout}`;
    const answer = await asked?.api.post<{ convergence: Convergence }>(path);
    expect(answer?.status, JSON.stringify(answer?.body)).to.equal(200);
    return answer?.body.convergence as Convergence;
  };

  it('count as unheard when it is cut off, and follow another node within seconds', async () => {
    await follow(lost, ...others);
    linked.isolate(lost);
    const early = await activate('v2', '500ms');
    expect(early.pendingProxies).to.include.members(['p', lost.nodeId]);
    expect(early.unheard.map(({ proxy: id, node }) => [id, node])).to.deep.equal([['p', lost.nodeId]]);
    await eventually(async () => expect(others.map(({ nodeId }) => nodeId)).to.include(await placeOf(others[0])));
    const late = await activate('v3', '20s');
    expect([late.pendingProxies, late.unheard]).to.deep.equal([[lost.nodeId], []]);
    const { status, text } = await call(lost.url, 'GET', '/readyz');
    expect([status, text]).to.deep.include(503);
    for (const { nodeId } of others) expect(text).to.match(new RegExp(`no quorum: .*${nodeId} unheard for \\d+ s`));
    // One that it takes while it still leads is 504: its outcome is not known.
    const write = await eventually(async () => {
      const answer = await lost.api.post('/groups', { name: 'nowhere' });
      expect(answer.status, String(answer.body.error)).to.equal(503);
      return answer;
    });
    expect(write.body.error).to.match(/no quorum: \w unheard for \d+ s, \w unheard for \d+ s/);
    expect(lost.output.join('\n')).to.match(/"level":"warn".*no leader for 5 s, writes are refused/);
  });

  it('follow another node when it is removed, which says so, drains and ends', async () => {
    await follow(lost, ...others);
    const removed = await others[0]?.api.delete(`/cluster/members/${lost.nodeId}`);
    expect(removed?.status).to.equal(204);
    await eventually(() => expect(lost.process?.child.exitCode).to.equal(0));
    expect(lost.output.join('\n')).to.match(/"level":"error".*this node was removed from its cluster at index \d+/);
    await eventually(async () => expect(others.map(({ nodeId }) => nodeId)).to.include(await placeOf(others[0])));
    expect(await activate('v2', '20s')).to.deep.include({ wanted: 3, installed: 3, pending: 0 });
    // The node that led then says so; another one may lead by now.
    const lines = [lost, ...others].flatMap(({ output }) => output).join('\n');
    expect(lines).to.include(`cluster: ${lost.nodeId} removed by ops`);
    const again = lost.start();
    again.catch(() => undefined);
    await eventually(() =>
      expect(lost.output.filter((line) => line.includes('it finishes the requests'))).to.have.length(2),
    );
  });

  it('count as unheard after its removal while they reach no other', async () => {
    await follow(lost);
    await others[0]?.api.delete(`/cluster/members/${lost.nodeId}`);
    const { unheard, pendingProxies } = await activate('v2', '500ms');
    expect(unheard.map(({ proxy: id, node }) => [id, node])).to.deep.equal([['p', lost.nodeId]]);
    expect(pendingProxies).to.deep.equal(['p']);
    const { body } = (await others[1]?.api.get<FleetView & Record<string, unknown>>('/fleet')) ?? {};
    expect(body?.proxies.find(({ id }) => id === 'p')).to.deep.include({ state: 'disconnected', node: lost.nodeId });
    for (const node of others) expect([204, 404]).to.include((await node.api.delete('/fleet/p')).status);
    expect((await activate('v3', '5s')).pendingProxies).to.deep.equal([]);
  });
});

const key = 'a-key-of-tests-that-is-long-enough';
