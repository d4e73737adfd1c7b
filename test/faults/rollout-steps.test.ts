// A rollout whose leader is killed, cut off or stands still at each of its steps (fleet.md §7): it ends as its rules say, once,
// and the same on every node; a candidate that turns bad at that moment is rolled back, a good one completed.
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { LinkedCluster } from '../support/linked-cluster.ts';
import { drawnRandom, pause, say } from '../support/long-run.ts';
import type { ClusterNode } from '../support/node-cluster.ts';
import { newFolder } from '../support/sluice-process.ts';
import { untilAccepted } from '../support/until-accepted.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { Visitors } from '../support/visitors.ts';

const rounds = Number(process.env.SLUICE_ROLLOUT_STEPS ?? 6);
const preload = new URL('../support/trouble.mjs', import.meta.url).pathname;
const wait = { withinMs: 90_000 };
const steps = [
  { share: 50, hold: '2s' },
  { share: 80, hold: '2s' },
];
const kinds = ['killed', 'cut off', 'blocked'] as const;

interface Rollout {
  readonly id: string;
  readonly state: string;
  readonly step: number;
  readonly events: readonly { readonly kind: string; readonly at: string }[];
}

interface Activation {
  readonly index: number;
  readonly snapshotId: string;
  readonly rollout: string | null;
}

describe(`${rounds} rollouts whose leader fails at one of their steps`, function () {
  this.timeout(rounds * 120_000 + 240_000);
  const random = drawnRandom();
  const folder = newFolder();
  const troubleOf = (nodeId: string): string => join(folder, `trouble-${nodeId}`);
  let linked: LinkedCluster;
  let nodes: readonly ClusterNode[];
  let upstream: Upstream;
  let visitors: Visitors;
  let urls: readonly string[];
  let isBroken = false;

  before(async () => {
    linked = await LinkedCluster.start({
      env: (nodeId) => ({ NODE_OPTIONS: `--import=${preload}`, SLUICE_TROUBLE: troubleOf(nodeId) }),
    });
    nodes = linked.cluster.nodes;
    upstream = await startUpstream('candidate', ({ url }, response) => {
      if (isBroken) response.statusCode = 500;
      response.end(url?.replace(/\/$/, ''));
    });
    const port = await freePort();
    urls = nodes.map(({ proxyAddress }) => `http://${proxyAddress}:${port}/`);
    await ask('POST', '/batch', {
      operations: [
        { op: 'create', kind: 'listeners', body: { id: 'web', name: 'web', address: '127.0.0.1', port } },
        { op: 'create', kind: 'destinations', body: { id: 'd', name: 'd', host: '127.0.0.1', port: upstream.port } },
        { op: 'create', kind: 'routes', body: { id: 'r', name: 'r', directResponse: { status: 200, body: 'none' } } },
      ],
      snapshot: { name: 'none', activate: true },
    });
    // Enough visitors that some are among the first half, with any seed of a rollout.
    visitors = new Visitors(urls, 30);
  });

  after(async () => {
    await visitors?.stop();
    await upstream?.close();
    await linked?.stop();
  });

  /** Some node answers, sooner or later; what is asked for again takes effect once. */
  async function ask(method: string, path: string, body?: unknown) {
    const headers = { 'idempotency-key': String(random()) };
    return await untilAccepted(async () => {
      const node = nodes[Math.floor(random() * nodes.length)];
      const asked = { withinMs: 15_000, headers, ...(body !== undefined && { body }) };
      return await call(node?.url ?? '', method, `/api/v1${path}`, asked);
    });
  }

  /** Captures a snapshot and returns its id; a client that is served by it gets its number. */
  const capture = async (number: number): Promise<string> => {
    const forward = { destinations: [{ destinationId: 'd' }], rewrite: { path: `/${number}` } };
    const operations = [{ op: 'update', kind: 'routes', id: 'r', body: { name: 'r', forward } }];
    const { json } = await ask('POST', '/batch', { operations, snapshot: { name: `s${number}` } });
    return (json as { snapshot: { id: string } }).snapshot.id;
  };

  const rollout = async (id: string): Promise<Rollout> => (await ask('GET', `/rollouts/${id}`)).json as Rollout;

  /** Gives what makes it well again. */
  const strike = async (kind: (typeof kinds)[number], leader: ClusterNode): Promise<() => Promise<void>> => {
    if (kind === 'killed') {
      await leader.stop('SIGKILL');
      return () => leader.start();
    }
    if (kind === 'cut off') {
      linked.isolate(leader);
      await pause(4_000);
      return async () => linked.heal();
    }
    const socket = connect(troubleOf(leader.nodeId));
    socket.write('block');
    socket.resume();
    await once(socket, 'close');
    return async () => undefined;
  };

  const historyOf = async (node: ClusterNode): Promise<readonly Activation[]> => {
    const { status, json, text } = await call(node.url, 'GET', '/api/v1/activations?limit=5');
    expect(status, text).to.equal(200);
    return json as readonly Activation[];
  };

  /** Waits until every client gets this text, at every node. */
  const allSaid = async (said: string): Promise<void> => {
    await eventually(async () => {
      const fromMs = performance.now();
      const lately = await eventually(() => {
        const found = visitors.since(fromMs).filter((visit) => visit.fromMs >= fromMs && visit.status === 200);
        expect(new Set(found.map(({ url }) => url)).size).to.equal(urls.length);
        expect(found.length).to.be.at.least(30);
        return found;
      }, wait);
      expect(new Set(lately.map((visit) => visit.said))).to.deep.equal(new Set([said]));
    }, wait);
  };

  const round = async (number: number, said: string): Promise<string> => {
    const kind = kinds[number % kinds.length] ?? 'killed';
    const step = Math.floor(number / kinds.length) % steps.length;
    const isBad = Math.floor(number / kinds.length / steps.length) % 2 === number % 2;
    isBroken = false;
    // They would fill the memory of this process, which is the upstream as well.
    upstream.requests.length = 0;
    const snapshotId = await capture(number);
    const plan = { key: { header: 'x-user' }, steps, minRequests: 5, checkInterval: '500ms' };
    const guards = ['candidate.requests < 5.0 || candidate.errorRate <= 0.01'];
    const { json } = await ask('POST', `/snapshots/${snapshotId}/rollout`, { ...plan, guards });
    const { id } = json as Rollout;
    await eventually(async () => {
      const now = await rollout(id);
      expect(now.step, JSON.stringify(now)).to.be.at.least(step);
    }, wait);
    isBroken = isBad;
    const leader = await linked.cluster.leader();
    const struckAt = Date.now();
    const repair = await strike(kind, leader);
    const over = await eventually(async () => {
      const now = await rollout(id);
      if (now.state === 'running') throw new Error(`the rollout is under way: ${JSON.stringify(now)}`);
      return now;
    }, wait).finally(repair);
    const what = `round ${number}: leader ${kind} at step ${step}, ${isBad ? 'bad' : 'good'}: ${JSON.stringify(over)}`;
    // On a busy machine it may be over before it is struck.
    const wasOver = Date.parse(over.events.at(-1)?.at ?? '') < struckAt;
    const isCompleted = !isBad || (wasOver && over.state === 'completed');
    expect(over.state, what).to.equal(isCompleted ? 'completed' : 'rolledBack');
    isBroken = false;
    await eventually(async () => {
      const [first, ...others] = await Promise.all(nodes.map(historyOf));
      for (const other of others) expect(other).to.deep.equal(first);
      const own = first?.filter((activation) => activation.rollout === id) ?? [];
      expect(own.map((activation) => activation.snapshotId)).to.deep.equal(isCompleted ? [snapshotId] : []);
    }, wait);
    const next = isCompleted ? `/${number}` : said;
    await allSaid(next);
    say(`${number + 1} of ${rounds}: ${kind} at step ${step}, ${over.state}`);
    return next;
  };

  it('end as their rules say, once, and alike on every node', async () => {
    let said = 'none';
    for (let number = 0; number < rounds; number++) said = await round(number, said);
    // 500: of the candidate's upstream; 0: of a node that was killed.
    const others = visitors.visits.filter(({ status }) => ![200, 500, 0].includes(status));
    expect(others.slice(0, 20)).to.deep.equal([]);
  });
});
