// Proxies apart from a cluster whose nodes and leaders fall while activations go on (fleet.md §2): none fails a request,
// none goes back to an older activation, and in the end the fleet says of each what it says of itself.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { FleetView } from '../../src/model/answers/fleet-answers.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { launchProxy, type ProxyProcess } from '../support/proxy-process.ts';

const rounds = 8;
/** Seconds that the rounds go on for at least; a minute in `.ci/run`, of the executable. */
const leastSeconds = Number(process.env.SLUICE_FLEET_SECONDS ?? 0);
const addresses = ['127.0.0.11', '127.0.0.12'] as const;

describe(`at least ${rounds} activations while nodes, leaders and proxies fall`, function () {
  this.timeout(600_000);
  let cluster: NodeCluster;
  let port: number;
  let proxies: ProxyProcess[];

  const launch = (at: number, folder?: string): ProxyProcess =>
    launchProxy({
      controlPlanes: cluster.nodes.map(({ url }) => url),
      proxy: `  id: p${at}\n  bindAddress: ${addresses[at]}`,
      ...(folder !== undefined && { folder }),
    });

  before(async () => {
    cluster = await NodeCluster.start({ clusterToken: 'a token of sixteen characters' });
    port = await freePort();
    const [first] = cluster.nodes as [ClusterNode];
    await first.api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port });
    await first.api.create('routes', { id: 'r', name: 'r', directResponse: { status: 200, body: '0' } });
    await first.api.activateAs('v0');
    proxies = addresses.map((_, at) => launch(at));
    await Promise.all(proxies.map((proxy) => proxy.ready()));
  });

  after(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop('SIGKILL')));
    await cluster.stop();
  });

  /** Number of the activation that a proxy serves. */
  const servedAt = async (address: string): Promise<number> => {
    const { status, text } = await call(`http://${address}:${port}`, 'GET', '/', { withinMs: 10_000 });
    if (status !== 200) throw new Error(`answered ${status}: ${text}`);
    return Number(text);
  };

  const activate = async (number: number): Promise<void> => {
    const node = await cluster.leader();
    const route = { name: 'r', directResponse: { status: 200, body: String(number) } };
    expect((await node.api.put('/routes/r', route)).status).to.equal(200);
    const id = await node.api.create('snapshots', { name: `v${number}-${node.nodeId}` });
    expect((await node.api.post(`/snapshots/${id}/activate`)).status).to.equal(200);
  };

  /** Killed in the moment before, a proxy would begin with the activation before. */
  const hasCopied = async (proxy: ProxyProcess, number: number): Promise<void> => {
    const copy = join(proxy.storePath, 'last-good');
    await eventually(() => expect(readFileSync(copy, 'utf8')).to.contain(`v${number}-`));
  };

  it('reach every proxy, in order, and cost no request', async () => {
    let active = true;
    let away = false;
    const faults: string[] = [];
    const watch = async (address: string, at: number): Promise<number[]> => {
      const served: number[] = [];
      while (active) {
        await servedAt(address).then(
          (number) => served.push(number),
          (error: Error) => {
            if (!(away && at === 1)) faults.push(`${address}: ${error.message}`);
          },
        );
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return served;
    };
    const watching = addresses.map(watch);
    const startedMs = performance.now();
    let round = 0;
    let newest = 0;
    while (round < rounds || performance.now() - startedMs < leastSeconds * 1_000) {
      round++;
      await activate(round);
      newest = round;
      if (round % 4 === 1) {
        const leader = await cluster.leader();
        await leader.stop('SIGKILL');
        newest = round + 0.5;
        await activate(newest);
        await leader.start();
      } else if (round % 4 === 3) {
        const { folder } = proxies[1] as ProxyProcess;
        await hasCopied(proxies[1] as ProxyProcess, round);
        away = true;
        await proxies[1]?.stop(round % 8 === 3 ? 'SIGKILL' : 'SIGTERM');
        proxies[1] = launch(1, folder);
        await proxies[1].ready();
        await eventually(() => servedAt(addresses[1]));
        away = false;
      }
    }
    for (const address of addresses) await eventually(async () => expect(await servedAt(address)).to.equal(newest));
    active = false;
    for (const [at, served] of (await Promise.all(watching)).entries()) {
      const back = served.flatMap((number, i) =>
        number < (served[i - 1] ?? 0) ? [`${served[i - 1]} → ${number}`] : [],
      );
      expect(back, addresses[at]).to.deep.equal([]);
      expect(served.length).to.be.greaterThan(round);
    }
    expect(faults).to.deep.equal([]);
  });

  it('are in the end what the fleet says, on every node', async () => {
    for (const node of cluster.nodes) {
      await eventually(async () => {
        const { body } = await node.api.get<FleetView & Record<string, unknown>>('/fleet');
        expect(body.unreachableNodes).to.deep.equal([]);
        expect(body.proxies.map(({ id, state }) => [id, state])).to.deep.equal(
          ['a', 'b', 'c', 'p0', 'p1'].map((id) => [id, 'current']),
        );
        for (const [at, proxy] of proxies.entries()) {
          const { json } = await proxy.admin('/debug/config');
          const { installed } = body.proxies.find(({ id }) => id === `p${at}`) ?? {};
          expect((json as { proxy: object }).proxy).to.deep.equal({
            id: `p${at}`,
            candidate: null,
            index: installed?.index,
            sha256: installed?.sha256,
          });
        }
      });
    }
  });
});
