// Rollouts and activations while nodes and proxies are killed and started again, under traffic on every proxy (fleet.md §7):
// nothing fails but what a broken candidate's upstream fails, nobody is served an older activation after a newer one, every
// rollout ends as its rules say, and what the fleet says of each proxy is what the proxy says of itself.
import { expect } from 'chai';
import type { FleetView } from '../../src/fleet/fleet-view.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { drawnRandom, pause, say, secondsOf } from '../support/long-run.ts';
import { NodeCluster } from '../support/node-cluster.ts';
import { launchProxy, type ProxyProcess } from '../support/proxy-process.ts';
import { untilAccepted } from '../support/until-accepted.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { type Visit, Visitors } from '../support/visitors.ts';

const seconds = secondsOf('ROLLOUTS', 60);
const proxyCount = Number(process.env.SLUICE_ROLLOUT_PROXIES ?? 3);
const wait = { withinMs: 60_000 };

interface Rollout {
  readonly id: string;
  readonly state: string;
  readonly events: readonly { readonly kind: string; readonly values: unknown }[];
}

/** A proxy process that may be down for a while. */
interface Edge {
  readonly url: string;
  process: ProxyProcess;
  /** From when to when its connections may fail. */
  readonly down: { fromMs: number; toMs: number }[];
}

describe('rollouts of a fleet under faults', function () {
  this.timeout(seconds * 3_000 + 240_000);
  const random = drawnRandom();
  let cluster: NodeCluster;
  let broken: Upstream;
  let edges: Edge[] = [];
  let visitors: Visitors;
  /** Numbers of what became active, with the moment when that was known; and of what was broken. */
  const active = new Map<number, number>();
  const bad = new Set<number>();
  let newest = 0;

  before(async () => {
    cluster = await NodeCluster.start();
    broken = await startUpstream('broken', (_request, response) => {
      response.statusCode = 500;
      response.end('broken');
    });
    const port = await freePort();
    const { api } = await cluster.leader();
    await api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port });
    await api.create('destinations', { id: 'broken', name: 'broken', host: '127.0.0.1', port: broken.port });
    await api.create('routes', { id: 'r', name: 'r', directResponse: { status: 200, body: '0' } });
    await activate();
    edges = Array.from({ length: proxyCount }, (_, at) => {
      const address = `127.0.0.${at + 11}`;
      return { url: `http://${address}:${port}/`, process: launch(`p${at}`, address), down: [] };
    });
    for (const edge of edges) await eventually(() => edge.process.ready(), wait);
    visitors = new Visitors(
      edges.map(({ url }) => url),
      24,
    );
  });

  after(async () => {
    await visitors?.stop();
    await Promise.all(edges.map((edge) => edge.process.stop('SIGKILL')));
    await broken?.close();
    await cluster?.stop();
  });

  const launch = (id: string, address: string, folder?: string): ProxyProcess =>
    launchProxy({
      controlPlanes: cluster.nodes.map(({ url }) => url),
      proxy: `  id: ${id}\n  bindAddress: ${address}`,
      ...(folder !== undefined && { folder }),
    });

  /** Some node that runs answers, sooner or later. */
  const ask = async (method: string, path: string, body?: unknown, done?: number) =>
    await untilAccepted(async () => {
      const running = cluster.nodes.filter((node) => node.process !== undefined);
      const node = running[Math.floor(random() * running.length)];
      return await call(node?.url ?? '', method, `/api/v1${path}`, {
        withinMs: 5_000,
        ...(body !== undefined && { body }),
      });
    }, done);

  const capture = async (route: object): Promise<[number, string]> => {
    const number = ++newest;
    await ask('PUT', '/routes/r', { name: 'r', ...route });
    const name = `s${number}`;
    await ask('POST', '/snapshots', { name }, 409);
    const known = (await ask('GET', '/snapshots')).json as { id: string; name: string }[];
    const id = known.find((each) => each.name === name)?.id ?? '';
    return [number, id];
  };
  const saying = (number: number) => ({ directResponse: { status: 200, body: String(number) } });

  async function activate(): Promise<void> {
    const [number, id] = await capture(saying(newest + 1));
    await ask('POST', `/snapshots/${id}/activate`);
    active.set(number, performance.now());
  }

  async function rollOut(isBad: boolean): Promise<string> {
    const forward = { forward: { destinations: [{ destinationId: 'broken' }] } };
    const [number, id] = await capture(isBad ? forward : saying(newest + 1));
    if (isBad) bad.add(number);
    const plan = {
      key: { header: 'x-user' },
      steps: [
        { share: 20, hold: '1s' },
        { share: 60, hold: '1s' },
      ],
      minRequests: 5,
      checkInterval: '500ms',
      guards: ['candidate.requests < 5.0 || candidate.errorRate <= stable.errorRate + 0.01'],
    };
    await ask('POST', `/snapshots/${id}/rollout`, plan, 409);
    const over = await eventually(async () => {
      const [last] = (await ask('GET', '/rollouts')).json as Rollout[];
      if (last === undefined || last.state === 'running') throw new Error(`rollout ${number} is under way`);
      return last;
    }, wait);
    expect(over.state, JSON.stringify(over.events)).to.equal(isBad ? 'rolledBack' : 'completed');
    if (!isBad) active.set(number, performance.now());
    return over.state;
  }

  const restart = async (edge: Edge): Promise<void> => {
    const down = { fromMs: performance.now(), toMs: Number.POSITIVE_INFINITY };
    edge.down.push(down);
    const { folder } = edge.process;
    const at = edges.indexOf(edge);
    await edge.process.stop(random() < 0.5 ? 'SIGKILL' : 'SIGTERM');
    edge.process = launch(`p${at}`, new URL(edge.url).hostname, folder);
    await eventually(() => edge.process.ready(), wait);
    down.toMs = performance.now();
  };

  const strike = async (): Promise<void> => {
    const draw = random();
    if (draw < 0.35) {
      const edge = edges[Math.floor(random() * edges.length)];
      if (edge !== undefined) await restart(edge);
      return;
    }
    const leader = await cluster.leader();
    const node = draw < 0.75 ? leader : cluster.nodes[Math.floor(random() * cluster.nodes.length)];
    if (draw > 0.9) {
      node?.process?.child.kill('SIGSTOP');
      await pause(1_000 + 2_000 * random());
      node?.process?.child.kill('SIGCONT');
      return;
    }
    await node?.stop('SIGKILL');
    await pause(500 * random());
    await node?.start();
  };

  it(`keeps its promises for ${seconds} s`, async () => {
    const end = performance.now() + seconds * 1_000;
    const tally = { activations: 0, completed: 0, rolledBack: 0, strikes: 0 };
    const striking = (async () => {
      while (performance.now() < end) {
        await strike();
        tally.strikes++;
        await pause(1_500 * random());
      }
    })();
    while (performance.now() < end) {
      const draw = random();
      if (draw < 0.5) {
        await activate();
        tally.activations++;
      } else if ((await rollOut(draw > 0.75)) === 'completed') tally.completed++;
      else tally.rolledBack++;
    }
    await striking;
    await activate();
    await eventually(() => {
      const lately = visitors.since(performance.now() - 300);
      expect(new Set(lately.map(({ said }) => said))).to.deep.equal(new Set([String(newest)]));
    }, wait);
    await visitors.stop();
    say(`${JSON.stringify(tally)}, ${visitors.visits.length} requests`);
    const failed = visitors.visits.filter((visit) => visit.status !== 200);
    expect(failed.filter((visit) => visit.said !== 'broken' && !isDown(visit))).to.deep.equal([]);
    expect(stale()).to.deep.equal([]);
    await expectFleetToBeRight();
  });

  const isDown = ({ url, fromMs, atMs }: Visit): boolean =>
    edges.some((edge) => edge.url === url && edge.down.some((down) => atMs >= down.fromMs && fromMs <= down.toMs));

  /** Requests that a proxy served from an activation older than one that it had served to everybody in the same life. */
  const stale = (): Visit[] => {
    const found: Visit[] = [];
    for (const { url, down } of edges) {
      let newestMs = new Map<number, number>();
      let lives = 0;
      const visits = visitors.visits.filter((visit) => visit.url === url && visit.status === 200);
      for (const visit of visits.toSorted((one, other) => one.atMs - other.atMs)) {
        const number = Number(visit.said);
        const life = down.filter(({ fromMs }) => visit.fromMs >= fromMs).length;
        if (life !== lives) newestMs = new Map();
        lives = life;
        // Seen by somebody once it was active for all: whoever asks later must not get less.
        const since = active.get(number);
        if (since !== undefined && visit.fromMs > since && !newestMs.has(number)) newestMs.set(number, visit.atMs);
        for (const [seen, atMs] of newestMs) if (seen > number && visit.fromMs > atMs + 50) found.push(visit);
      }
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
    }, wait);
  }
});
