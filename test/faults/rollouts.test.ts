// Rollouts and activations while nodes and proxies are killed and started again and the network between them is cut,
// under traffic on every proxy, those within the nodes too (fleet.md §7): nothing fails but what a broken candidate's
// upstream fails, no client is served an older activation after a newer one or what only a shadow step had, every rollout ends as its
// rules say, and the fleet's record of each proxy is what the proxy reports of itself.

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { FleetView } from '../../src/model/answers/fleet-answers.ts';
import { CuttableLink } from '../support/cuttable-link.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { LinkedCluster } from '../support/linked-cluster.ts';
import { drawnRandom, pause, say, secondsOf } from '../support/long-run.ts';
import type { ClusterNode } from '../support/node-cluster.ts';
import { launchProxy, type ProxyProcess } from '../support/proxy-process.ts';
import { untilAccepted } from '../support/until-accepted.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { type Visit, Visitors } from '../support/visitors.ts';

const seconds = secondsOf('ROLLOUTS', 60);
const proxyCount = Number(process.env.SLUICE_ROLLOUT_PROXIES ?? 3);
const shadowStep = { shadow: true, hold: '1s' } as const;
/** A node gives an answer within ten seconds, if it runs. */
const longerThanANode = 15_000;

interface Rollout {
  readonly id: string;
  readonly state: string;
  readonly activated: boolean;
  readonly events: readonly { readonly kind: string; readonly values: unknown }[];
}

/** Period in which connections of a proxy may fail; from `endedMs` on its former life answers no client. */
interface Down {
  readonly fromMs: number;
  endedMs: number;
  toMs: number;
}

/** A proxy that may be down for a while. */
interface Place {
  readonly url: string;
  readonly down: Down[];
}

/** A proxy in a process of its own, and its ways to the nodes. */
interface Edge extends Place {
  process: ProxyProcess;
  readonly links: readonly CuttableLink[];
}

describe('rollouts of a fleet under faults', function () {
  this.timeout(seconds * 3_000 + 240_000);
  const random = drawnRandom();
  let cluster: LinkedCluster;
  let within: Place[] = [];
  let broken: Upstream;
  const edges: Edge[] = [];
  let visitors: Visitors;
  /** Number of what was captured last. */
  let newest = 0;
  /** Numbers of candidates that only shadow steps had. */
  const compared = new Set<string>();

  before(async () => {
    cluster = await LinkedCluster.start();
    broken = await startUpstream('broken', (_request, response) => {
      response.statusCode = 500;
      response.end('broken');
    });
    const port = await freePort();
    const { api } = await cluster.cluster.leader();
    await api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port });
    await api.create('destinations', { id: 'broken', name: 'broken', host: '127.0.0.1', port: broken.port });
    await api.create('routes', { id: 'r', name: 'r', directResponse: { status: 200, body: '0' } });
    await activate();
    within = cluster.cluster.nodes.map(({ proxyAddress }) => ({ url: `http://${proxyAddress}:${port}/`, down: [] }));
    for (let at = 0; at < proxyCount; at++) {
      const links = await Promise.all(cluster.cluster.nodes.map(({ ports }) => CuttableLink.to(ports.api)));
      const address = `127.0.0.${at + 11}`;
      edges.push({ url: `http://${address}:${port}/`, process: launch(`p${at}`, address, links), links, down: [] });
    }
    for (const edge of edges) await eventually(() => edge.process.ready());
    visitors = new Visitors(
      places().map(({ url }) => url),
      24,
    );
  });

  after(async () => {
    await visitors?.stop();
    await Promise.all(edges.map((edge) => edge.process.stop('SIGKILL')));
    await Promise.all(edges.flatMap(({ links }) => links.map((link) => link.close())));
    await broken?.close();
    await cluster?.stop();
  });

  const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const places = (): readonly Place[] => [...within, ...edges];
  const launch = (id: string, address: string, links: readonly CuttableLink[], folder?: string): ProxyProcess =>
    launchProxy({
      controlPlanes: links.map(({ port }) => `http://127.0.0.1:${port}`),
      proxy: `  id: ${id}\n  bindAddress: ${address}`,
      ...(folder !== undefined && { folder }),
    });

  /**
   * Some node that runs answers, sooner or later. What is asked for again takes effect once: the first time may be on its
   * way still, and come after what is asked for next.
   */
  const ask = async (method: string, path: string, body?: unknown, done?: number) => {
    const headers = { 'idempotency-key': randomUUID() };
    return await untilAccepted(async () => {
      const running = cluster.cluster.nodes.filter((node) => node.process !== undefined);
      const { url } = oneOf(running);
      return await call(url, method, `/api/v1${path}`, {
        withinMs: longerThanANode,
        headers,
        ...(body !== undefined && { body }),
      });
    }, done);
  };

  const capture = async (route: object): Promise<[number, string]> => {
    const number = ++newest;
    await ask('POST', '/batch', {
      operations: [{ op: 'update', kind: 'routes', id: 'r', body: { name: 'r', ...route } }],
    });
    const name = `s${number}`;
    await ask('POST', '/snapshots', { name }, 409);
    const known = (await ask('GET', '/snapshots')).json as { id: string; name: string }[];
    const id = known.find((each) => each.name === name)?.id ?? '';
    return [number, id];
  };
  const saying = (number: number) => ({ directResponse: { status: 200, body: String(number) } });

  async function activate(): Promise<void> {
    const [, id] = await capture(saying(newest + 1));
    await ask('POST', `/snapshots/${id}/activate`);
  }

  async function rollOut(isBad: boolean): Promise<string> {
    const forward = { forward: { destinations: [{ destinationId: 'broken' }] } };
    const [number, id] = await capture(isBad ? forward : saying(newest + 1));
    const plan = {
      key: { header: 'x-user' },
      steps: [
        { share: 50, hold: '1s' },
        { share: 80, hold: '1s' },
      ],
      minRequests: 5,
      checkInterval: '500ms',
      guards: ['candidate.requests < 5.0 || candidate.errorRate <= stable.errorRate + 0.01'],
    };
    const over = await ended(number, id, { ...plan, steps: random() < 0.5 ? plan.steps : [shadowStep, ...plan.steps] });
    expect(over.state, JSON.stringify(over.events)).to.equal(isBad ? 'rolledBack' : 'completed');
    return over.state;
  }

  /** Asks the traffic of the fleet about a candidate that loses every request, or none, and serves no client. */
  async function compare(isLossy: boolean): Promise<void> {
    const route = saying(newest + 1);
    const [number, id] = await capture(isLossy ? { ...route, match: { path: '/nowhere' } } : route);
    compared.add(String(number));
    const plan = { steps: [shadowStep], minRequests: 5, checkInterval: '500ms' };
    const { state, activated, events } = await ended(number, id, plan);
    expect({ state, activated }, JSON.stringify(events)).to.deep.equal({
      state: isLossy ? 'rolledBack' : 'completed',
      activated: false,
    });
  }

  async function ended(number: number, id: string, plan: object): Promise<Rollout> {
    await ask('POST', `/snapshots/${id}/rollout`, plan, 409);
    return await eventually(async () => {
      const [last] = (await ask('GET', '/rollouts')).json as Rollout[];
      if (last === undefined || last.state === 'running') throw new Error(`rollout ${number} is under way`);
      return last;
    });
  }

  const beginDown = ({ down }: Place): Down => {
    const begun = { fromMs: performance.now(), endedMs: Number.POSITIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };
    down.push(begun);
    return begun;
  };

  const restart = async (edge: Edge): Promise<void> => {
    const down = beginDown(edge);
    const { folder } = edge.process;
    const at = edges.indexOf(edge);
    await edge.process.stop(random() < 0.5 ? 'SIGKILL' : 'SIGTERM');
    down.endedMs = performance.now();
    edge.process = launch(`p${at}`, new URL(edge.url).hostname, edge.links, folder);
    await eventually(() => edge.process.ready());
    down.toMs = performance.now();
  };

  const kill = async (node: ClusterNode): Promise<void> => {
    const place = within[cluster.cluster.nodes.indexOf(node)];
    if (place === undefined) throw new Error(`no proxy within ${node.nodeId}`);
    const down = beginDown(place);
    await node.stop('SIGKILL');
    down.endedMs = performance.now();
    await pause(500 * random());
    await node.start();
    down.toMs = performance.now();
  };

  const suspend = async (node: ClusterNode): Promise<void> => {
    node.process?.child.kill('SIGSTOP');
    await pause(1_000 + 2_000 * random());
    node.process?.child.kill('SIGCONT');
  };

  /** Isolates a node from all others; its own proxy goes on, and proxies that follow it hear it. */
  const isolate = async (node: ClusterNode): Promise<void> => {
    cluster.isolate(node);
    await pause(1_000 + 5_000 * random());
    cluster.heal();
  };

  /** Nothing passes between a proxy and any node, or only what it says. */
  const cutOff = async ({ links }: Edge): Promise<void> => {
    const there = random() < 0.5;
    for (const link of links) link.cut({ there, back: true });
    await pause(1_000 + 4_000 * random());
    for (const link of links) link.heal();
  };

  const resetAll = async ({ links }: Edge): Promise<void> => {
    for (const link of links) link.reset();
  };

  /** Faults, with their relative frequencies. */
  const strikes: Readonly<Record<string, readonly [number, () => Promise<void>]>> = {
    'proxy restarted': [6, () => restart(oneOf(edges))],
    'leader killed': [6, async () => kill(await cluster.cluster.leader())],
    'node killed': [3, () => kill(oneOf(cluster.cluster.nodes))],
    'node stopped': [2, () => suspend(oneOf(cluster.cluster.nodes))],
    'leader cut off': [3, async () => isolate(await cluster.cluster.leader())],
    'node cut off': [2, () => isolate(oneOf(cluster.cluster.nodes))],
    'proxy cut off': [3, () => cutOff(oneOf(edges))],
    'connections reset': [2, () => resetAll(oneOf(edges))],
  };
  const lots = Object.entries(strikes).flatMap(([name, [weight]]) => Array<string>(weight).fill(name));

  it(`keeps its promises for ${seconds} s`, async () => {
    const end = performance.now() + seconds * 1_000;
    const tally = { activations: 0, completed: 0, rolledBack: 0, compared: 0, lossy: 0 };
    const struck: Record<string, number> = {};
    const striking = (async () => {
      while (performance.now() < end) {
        const name = oneOf(lots);
        await strikes[name]?.[1]();
        struck[name] = (struck[name] ?? 0) + 1;
        await pause(1_500 * random());
      }
    })();
    while (performance.now() < end) {
      const draw = random();
      if (draw < 0.84) {
        await activate();
        tally.activations++;
      } else if (draw < 0.88) {
        const isLossy = draw < 0.86;
        await compare(isLossy);
        tally[isLossy ? 'lossy' : 'compared']++;
      } else if ((await rollOut(draw > 0.94)) === 'completed') tally.completed++;
      else tally.rolledBack++;
    }
    await striking;
    await activate();
    await eventually(() => {
      const lately = visitors.since(performance.now() - 300);
      expect(new Set(lately.map(({ said }) => said))).to.deep.equal(new Set([String(newest)]));
    });
    await visitors.stop();
    say(`${JSON.stringify(tally)}, ${visitors.visits.length} requests, ${JSON.stringify(struck)}`);
    const failed = visitors.visits.filter((visit) => visit.status !== 200);
    expect(failed.filter((visit) => visit.said !== 'broken' && !isDown(visit)).slice(0, 20)).to.deep.equal([]);
    expect(stale().slice(0, 20)).to.deep.equal([]);
    expect(visitors.visits.filter(({ said }) => compared.has(said)).slice(0, 20)).to.deep.equal([]);
    await expectFleetToBeRight();
  });

  const isDown = ({ url, fromMs, atMs }: Visit): boolean =>
    places().some(
      (place) => place.url === url && place.down.some((down) => atMs >= down.fromMs && fromMs <= down.toMs),
    );

  /**
   * Requests that were served from something older than what the same visitor had had of the same proxy in one of its lives.
   * Of two visitors one may have the candidate for as long as a proxy hears nothing of its end.
   */
  const stale = (): object[] => {
    const found: object[] = [];
    const newestOf = new Map<string, number>();
    for (const visit of visitors.visits.toSorted((one, other) => one.fromMs - other.fromMs)) {
      if (visit.status !== 200) continue;
      const down = places().find(({ url }) => url === visit.url)?.down ?? [];
      const life = down.filter(({ endedMs }) => visit.fromMs >= endedMs).length;
      const who = `${visit.visitor} at ${visit.url}, life ${life}`;
      const seen = newestOf.get(who) ?? 0;
      if (Number(visit.said) < seen) found.push({ ...visit, life, after: seen });
      else newestOf.set(who, Number(visit.said));
    }
    return found;
  };

  async function expectFleetToBeRight(): Promise<void> {
    await eventually(async () => {
      const { proxies } = (await ask('GET', '/fleet')).json as FleetView;
      const current = proxies.filter(({ state }) => state === 'current');
      expect(current.map(({ id }) => id)).to.deep.equal(['a', 'b', 'c', ...edges.map((_, at) => `p${at}`)]);
      for (const [at, edge] of edges.entries()) {
        const own = (await edge.process.admin('/debug/config')).json as { proxy: object };
        const told = current.find(({ id }) => id === `p${at}`)?.installed;
        expect(own.proxy).to.deep.include({ index: told?.index, sha256: told?.sha256 });
      }
    });
  }
});
