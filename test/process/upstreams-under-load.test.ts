// Upstream policies under load, in two workers: an endpoint that dies, activations beside everything that is remembered,
// a thousand pods that come and go.
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { Agent, request } from 'undici';
import { findCluster, thisMachine } from '../../src/kubernetes/cluster-access.ts';
import { KubernetesDiscovery } from '../../src/proxy/upstream/discovery/kubernetes-discovery.ts';
import { silentLogger } from '../../src/telemetry/logger.ts';
import { systemClock } from '../../src/util/clock.ts';
import { eventually } from '../support/eventually.ts';
import { KubernetesServer } from '../support/kubernetes-server.ts';
import { cookieSet, PolicyBed } from '../support/named-upstreams.ts';
import { listening } from '../support/proxy-bed.ts';
import { TemporaryDirectories } from '../support/temporary-directory.ts';

describe('upstreams under load', () => {
  let bed: PolicyBed;
  let agent: Agent;
  beforeEach(async () => {
    bed = await PolicyBed.open({ workers: 2 });
    agent = new Agent({ connections: 32 });
    bed.atEnd(async () => agent.destroy());
  });
  afterEach(() => bed.end());

  /** Statuses by number, of at most 500 requests a second while `meanwhile` runs; it may wait until so many are answered. */
  async function load(
    meanwhile: (answered: (n: number) => Promise<void>) => Promise<void>,
  ): Promise<Map<number, number>> {
    const statuses = new Map<number, number>();
    const answered = (n: number): Promise<void> =>
      eventually(() => {
        expect([...statuses.values()].reduce((a, b) => a + b, 0)).to.be.at.least(n);
      });
    const under = new Set<Promise<void>>();
    let over = false;
    const timer = setInterval(() => {
      for (let i = 0; i < 5 && !over; i++) {
        const one = request(`http://127.0.0.1:${bed.port}/`, { dispatcher: agent })
          .then(async ({ statusCode, body }) => {
            await body.dump();
            statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
          })
          .finally(() => under.delete(one));
        under.add(one);
      }
    }, 10);
    await meanwhile(answered);
    over = true;
    clearInterval(timer);
    await Promise.all(under);
    return statuses;
  }

  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

  /** Two endpoints, and the end of the first. */
  async function mortal(): Promise<{ ports: number[]; kill: () => void }> {
    const server: Server = createServer((_, response) => response.end('mortal'));
    const port = await listening(server);
    const kill = () => {
      server.close();
      server.closeAllConnections();
    };
    bed.atEnd(async () => kill());
    return { ports: [port, ...(await bed.named(['b', 'c']))], kill };
  }

  it('an endpoint that is killed costs no client an error where there are retries', async () => {
    const { ports, kill } = await mortal();
    // A slow machine may have more than the usual three retries under way at once; the rest would be 502, as decided.
    await bed.balanced(
      ports,
      { outlierDetection: { consecutive5xx: 3, baseEjectionTime: '10m' }, circuitBreaker: { maxRetries: 1_000 } },
      { retry: { attempts: 2, on: ['connection-failure'], backoff: { base: '1ms' }, budgetPercent: 100 } },
    );
    const statuses = await load(async (answered) => {
      await answered(300);
      kill();
      await answered(1_000);
    });
    expect([...statuses.keys()]).to.deep.equal([200]);
  });

  it('and without retries no more than eject it, and what was under way', async () => {
    const { ports, kill } = await mortal();
    await bed.balanced(ports, { outlierDetection: { consecutive5xx: 5, baseEjectionTime: '10m' } });
    const statuses = await load(async (answered) => {
      await answered(300);
      kill();
      await answered(1_000);
    });
    expect(statuses.get(502) ?? 0).to.be.within(5, 5 + 64);
  });

  it('a slow endpoint gets little of what LEAST_REQUEST spreads', async () => {
    const seen = new Map<string, number>();
    const ports = await bed.named(['slow', 'b', 'c', 'd'], (name, _, response) => {
      seen.set(name, (seen.get(name) ?? 0) + 1);
      if (name === 'slow') setTimeout(() => response.end(name), 400);
      else response.end(name);
    });
    await bed.balanced(ports, { endpointBalancing: { algorithm: 'LEAST_REQUEST' } });
    await load((answered) => answered(1_000));
    const total = [...seen.values()].reduce((a, b) => a + b);
    expect((seen.get('slow') ?? 0) / total).to.be.below(0.1);
  });

  it('fifty activations forget nothing: an open circuit, an ejection, sessions, tunnels and connections', async () => {
    const bad = new Set(['ejected', 'broken']);
    const ports = await bed.named(['good', 'ejected', 'better'], (name, _, response) => {
      response.writeHead(bad.has(name) ? 503 : 200).end(name);
    });
    const [broken = 0] = await bed.named(['broken'], (_, __, response) => response.writeHead(500).end());
    const tunnels = await bed.rawUpstream((socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
      socket.removeAllListeners('data').on('data', (chunk) => socket.write(chunk));
    });
    const route = (id: string, match: object = {}) => ({
      id,
      name: id,
      match: { pathPrefix: `/${id}`, ...match },
      forward: { destinations: [{ destinationId: id }] },
    });
    const host = '127.0.0.1';
    let round = 0;
    const activate = () =>
      bed.install({
        listeners: [{ id: 'l', name: 'l', port: bed.port }],
        destinations: [
          {
            id: 'sticky',
            name: 'sticky',
            host,
            port: 1,
            endpoints: ports.map((port) => ({ host, port })),
            options: {
              endpointBalancing: { algorithm: 'STICKY' as const },
              outlierDetection: { consecutive5xx: 1, baseEjectionTime: '10m', maxEjectionPercent: 50 },
            },
          },
          {
            id: 'broken',
            name: 'broken',
            host,
            port: broken,
            options: { circuitBreaker: { failureThreshold: 2, openDuration: '10m' } },
          },
          { id: 'tunnel', name: 'tunnel', host, port: tunnels.port },
          { id: 'other', name: `other ${round}`, host, port: 1 },
        ],
        routes: [
          route('sticky'),
          route('broken'),
          route('tunnel'),
          route('other', { pathPrefix: `/other-${round++}` }),
        ],
      });
    await activate();
    const status = async (path: string, headers = {}) => (await bed.ask(headers, { path })).status;
    await eventually(async () => expect(await status('/broken')).to.equal(503));
    // Every client that meets the bad endpoint ejects it; from then on none does.
    const clients = await eventually(async () => {
      const answers = await Promise.all(Array.from({ length: 30 }, () => bed.ask({}, { path: '/sticky' })));
      expect(answers.map(({ status: each }) => each)).not.to.include(503);
      return answers.map((answer) => ({ cookie: cookieSet(answer), name: answer.body }));
    });
    const wires = Array.from({ length: 8 }, () => bed.wire(bed.port));
    for (const wire of wires) wire.send('GET /tunnel HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    for (const wire of wires) await wire.until(/101/);
    const connections = tunnels.connections;
    for (let i = 0; i < 50; i++) {
      await activate();
      if (i % 10 > 0) continue;
      expect(await status('/broken')).to.equal(503);
      for (const { cookie, name } of clients) {
        expect(await bed.ask({ cookie }, { path: '/sticky' })).to.include({ status: 200, body: name });
      }
    }
    for (const wire of wires) {
      wire.received = '';
      wire.send('still here');
      await wire.until(/still here/);
    }
    expect(tunnels.connections).to.equal(connections);
  });

  it('a thousand pods that come, move and go: the endpoints are right within a second of the last event', async () => {
    const directories = new TemporaryDirectories();
    bed.atEnd(() => directories.removeAll());
    const server = new KubernetesServer();
    await server.start();
    bed.atEnd(() => server.stop());
    server.service('shop', 'cart', { ports: [{ name: 'http', port: 80 }] });
    const kubeconfig = join(await directories.make(), 'config');
    const context = { name: 'c', context: { cluster: 'k' } };
    const clusters = [{ name: 'k', cluster: { server: server.url } }];
    await writeFile(kubeconfig, JSON.stringify({ 'current-context': 'c', contexts: [context], clusters }));
    let told: readonly string[] = [];
    const discovery = new KubernetesDiscovery({
      clock: systemClock,
      logger: silentLogger,
      random: Math.random,
      findCluster: () => findCluster({ ...thisMachine, env: { KUBECONFIG: kubeconfig } }),
      onEndpoints: (_, endpoints) => {
        told = endpoints.map(({ host }) => host);
      },
    });
    bed.atEnd(() => discovery.close());
    discovery.follow([{ id: 'd', host: 'cart.shop', port: 80 }]);
    const pods = new Map<number, string>();
    const slice = (number: number): void => {
      const endpoints = [...pods].filter(([pod]) => pod % 10 === number).map(([, host]) => ({ addresses: [host] }));
      server.slice('shop', 'cart', `cart-${number}`, [{ name: 'http', port: 8080 }], endpoints);
    };
    for (let event = 0; event < 3_000; event++) {
      const pod = event % 1_000;
      if (event < 1_000) pods.set(pod, `10.0.${pod >> 8}.${pod & 255}`);
      else if (event < 2_000) pods.set(pod, `10.1.${pod >> 8}.${pod & 255}`);
      else if (pod % 2 === 0) pods.delete(pod);
      slice(pod % 10);
      if (event % 10 === 0) await pause(1);
    }
    await eventually(() => expect([...told].sort()).to.deep.equal([...pods.values()].sort()));
  });
});
