// Rate limits that the cluster shares (contract.md §8.2, fleet.md §8): three nodes and two proxies as real processes.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { NodeCluster } from '../support/node-cluster.ts';
import { launchProxy, type ProxyProcess } from '../support/proxy-process.ts';

const limit = 100;
const addresses = ['127.0.0.11', '127.0.0.12'] as const;

describe('a rate limit that the cluster shares', () => {
  let cluster: NodeCluster;
  let port: number;
  const proxies: ProxyProcess[] = [];

  before(async () => {
    cluster = await NodeCluster.start({ clusterToken: 'a token of sixteen characters' });
    const { api } = cluster.node('a');
    port = await freePort();
    await api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port });
    const shared = { key: 'request.headers["x-tenant"]', scope: 'cluster' };
    const rateLimit = { ...shared, limits: [{ requests: limit, per: '24h' }] };
    await api.create('middlewares', { id: 'hourly', name: 'hourly', type: 'rateLimit', rateLimit });
    const steady = { ...shared, limits: [{ requests: 50, per: '1s' }] };
    await api.create('middlewares', { id: 'steady', name: 'steady', type: 'rateLimit', rateLimit: steady });
    const directResponse = { status: 200 };
    for (const id of ['hourly', 'steady']) {
      await api.create('routes', { id, name: id, match: { path: `/${id}` }, middlewareIds: [id], directResponse });
    }
    await api.activateAs('v1');
    const controlPlanes = cluster.nodes.map(({ url }) => url);
    for (const [place, address] of addresses.entries()) {
      proxies.push(launchProxy({ controlPlanes, proxy: `  id: p${place + 1}\n  bindAddress: ${address}` }));
    }
    await Promise.all(proxies.map((proxy) => proxy.ready()));
  });

  after(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop('SIGKILL')));
    await cluster.stop();
  });

  const ask = async (address: string, path: string, tenant: string) =>
    await call(`http://${address}:${port}`, 'GET', path, { headers: { 'x-tenant': tenant } });

  /** Sends so many requests, ten at a time; returns how many passed. */
  const send = async (address: string, tenant: string, count: number): Promise<number> => {
    let left = count;
    let passed = 0;
    const one = async (): Promise<void> => {
      while (left-- > 0) {
        const { status } = await ask(address, '/hourly', tenant);
        expect(status).to.be.oneOf([200, 429]);
        if (status === 200) passed++;
      }
    };
    await Promise.all(Array.from({ length: 10 }, one));
    return passed;
  };

  const sum = (counts: readonly number[]): number => counts.reduce((all, each) => all + each, 0);

  it('passes the limit over all proxies and nodes together, and tells what is left', async () => {
    let turn = 0;
    await eventually(async () => {
      const first = await ask(addresses[0], '/hourly', `first ${++turn}`);
      expect([first.status, first.headers.ratelimit]).to.deep.equal([200, '"100/86400s";r=99;t=864']);
    });
    const passed = await Promise.all([send(addresses[0], 'blue', 90), send(addresses[1], 'blue', 30)]);
    const nodes = cluster.nodes.map(({ proxyAddress }) => send(proxyAddress, 'blue', 10));
    passed.push(...(await Promise.all(nodes)));
    // A machine that is busy brings some tokens late. One more comes back in 864 s.
    await eventually(async () => {
      passed.push(await send(addresses[0], 'blue', 5));
      expect(sum(passed)).to.be.at.least(0.95 * limit);
    });
    await eventually(async () => {
      const refused = await ask(addresses[1], '/hourly', 'blue');
      if (refused.status === 200) passed.push(1);
      expect([refused.status, refused.text]).to.deep.equal([429, '{"error":"rate limit exceeded"}']);
      expect(Number(refused.headers['retry-after'])).to.be.within(1, 864);
    });
    expect(sum(passed)).to.be.at.most(limit + addresses.length);
    await eventually(async () => expect((await ask(addresses[1], '/hourly', 'green')).status).to.equal(200));
  });

  it('keeps what is left of a budget when leadership is handed over', async () => {
    const tokens = async (tenant: string): Promise<number> => {
      const { headers } = await ask(addresses[0], '/hourly', tenant);
      return Number(/;r=(\d+)/.exec(String(headers.ratelimit))?.[1]);
    };
    let passed = 0;
    await eventually(async () => {
      passed += await send(addresses[0], 'day', 10);
      expect(passed).to.be.at.least(10);
    });
    const before = await cluster.leader();
    expect((await before.api.post('/cluster/transfer')).status).to.be.oneOf([200, 202, 204]);
    await eventually(async () => expect((await cluster.leader()).nodeId).to.not.equal(before.nodeId));
    // Budgets that the former leader had given nothing of are whole once the new one deals; without its ledger they
    // would be empty.
    let turn = 0;
    await eventually(async () => expect(await tokens(`after ${++turn}`)).to.equal(limit - 1));
    await eventually(async () => expect(await tokens('day')).to.be.within(20, limit - passed));
  });

  it('passes nothing twice when the leader dies, and goes on with another', async () => {
    const drained = [await send(addresses[0], 'red', limit + 20)];
    await eventually(async () => {
      drained.push(await send(addresses[0], 'red', 5));
      expect(sum(drained)).to.be.at.least(0.95 * limit);
    });
    const leader = await cluster.leader();
    await leader.stop('SIGKILL');
    const passed: number[] = [];
    const endMs = performance.now() + 6_000;
    while (performance.now() < endMs) {
      passed.push(...(await Promise.all(addresses.map((address) => send(address, 'red', 1)))));
      await sleep(100);
    }
    expect(sum(drained) + sum(passed)).to.be.at.most(limit + addresses.length);
    await cluster.leader();
    // Ended only once the new leader deals: a key of which no proxy holds a part is filled from then on.
    await eventually(async () => expect((await ask(addresses[1], '/steady', 'new')).status).to.equal(200));
    await leader.start();
  });

  it('goes on with the last share without a control plane', async () => {
    let passed = 0;
    let isOver = false;
    const load = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        if ((await ask(addresses[0], '/steady', 'blue')).status === 200) passed++;
        else await sleep(5);
      }
    });
    await eventually(() => expect(passed).to.be.above(60));
    await cluster.stop();
    const before = passed;
    const startedMs = performance.now();
    // The only proxy with requests, which held nearly everything.
    await eventually(() => expect(passed - before).to.be.above(150));
    isOver = true;
    await Promise.all(load);
    const possible = 50 + ((performance.now() - startedMs) * 50) / 1_000;
    expect(passed - before).to.be.at.most(possible + 1);
  });
});
