// Activations while nodes are killed and started again (raft.md C6, row 12; security.md S34 and S35), and how soon every
// proxy has one. The body that a proxy serves is the number of the activation that it follows.
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { drawnRandom, pause, say } from '../support/long-run.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { quantile } from '../support/verdict.ts';

const activations = Number(process.env.SLUICE_ACTIVATIONS ?? 1_000);

describe('activations in a cluster', function () {
  this.timeout(900_000);
  const random = drawnRandom();
  let cluster: NodeCluster;
  let port: number;

  beforeEach(async () => {
    cluster = await NodeCluster.start();
    port = await freePort();
    const { api } = await cluster.leader();
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port });
    await api.create('routes', routeOf(0));
    await api.activateAs('activation-0');
  });

  afterEach(() => cluster.stop());

  /** What the proxy of the node serves; undefined while it serves nothing. */
  const servedBy = async ({ proxyAddress }: ClusterNode): Promise<number | undefined> => {
    const answer = await call(`http://${proxyAddress}:${port}`, 'GET', '/', { withinMs: 2_000 }).catch(() => undefined);
    return answer?.status === 200 ? Number(answer.text) : undefined;
  };

  /** Activates `number` on one node; when each proxy has it, milliseconds after the answer. */
  const delaysOf = async (number: number): Promise<number[]> => {
    const node = cluster.nodes[number % 3] as ClusterNode;
    await node.api.put('/routes/numbered', routeOf(number));
    await node.api.activateAs(`activation-${number}`);
    const answeredAt = performance.now();
    const delayOf = async (each: ClusterNode): Promise<number> => {
      await eventually(async () => expect(await servedBy(each)).to.equal(number));
      return performance.now() - answeredAt;
    };
    return await Promise.all(cluster.nodes.map(delayOf));
  };

  const expectWithin100Ms = (delays: number[]): void => {
    delays.sort((a, b) => a - b);
    const shares = [0.5, 0.99, 1].map((share) => `${quantile(delays, share).toFixed(1)} ms`);
    say(`${delays.length} proxies behind their answer: p50, p99, max ${shares.join(', ')}`);
    expect(quantile(delays, 0.99)).to.be.at.most(100);
  };

  it('reach every proxy within 100 ms of the answer', async () => {
    const delays: number[] = [];
    for (let number = 1; number <= 100; number++) delays.push(...(await delaysOf(number)));
    expectWithin100Ms(delays);
  });

  it('do so with a thousand routes that are all new, and with one of them changed', async () => {
    const { api } = await cluster.leader();
    for (let first = 0; first < 1_000; first += 50) {
      const routes = Array.from({ length: 50 }, (_, at) => ({
        name: `new-${first + at}`,
        match: { hostnames: [`host-${first + at}.example`], pathPrefix: `/${at}` },
        directResponse: { status: 200 },
      }));
      await Promise.all(routes.map((route) => api.create('routes', route)));
    }
    expectWithin100Ms(await delaysOf(1));
    const delays: number[] = [];
    for (let number = 2; number <= 50; number++) delays.push(...(await delaysOf(number)));
    expectWithin100Ms(delays);
  });

  it(`end on the last of ${activations} everywhere, and none is followed by an older one`, async () => {
    let active = true;
    let newest = 0;
    const captured: string[] = [];
    const seen: string[] = [];
    const watch = async (node: ClusterNode): Promise<void> => {
      for (let last = 0; active; ) {
        const number = await servedBy(node);
        // A restarted node serves what it had on disk before it goes on: never less than it ever served.
        if (number !== undefined && number < last) seen.push(`${node.nodeId} served ${number} after ${last}`);
        last = Math.max(last, number ?? 0);
        await pause(5);
      }
    };
    let kills = 0;
    const kill = async (): Promise<void> => {
      while (active) {
        const leader = await cluster.leader();
        const victim = random() < 0.6 ? leader : (cluster.nodes[Math.floor(random() * 3)] as ClusterNode);
        await victim.stop('SIGKILL');
        kills++;
        await pause(random() * 300);
        await victim.start();
        await pause(500 + random() * 1_000);
      }
    };
    const others = [...cluster.nodes.map(watch), kill()];
    for (let number = 1; number <= activations; number++) {
      await untilAccepted(() => edit(drawnNode(), number));
      const id = String((await untilAccepted(() => capture(drawnNode(), number))).id);
      await untilAccepted(() => activate(drawnNode(), id));
      newest = number;
      captured.push(id);
      if (captured.length > 10) await untilAccepted(() => remove(drawnNode(), captured[0] ?? ''), 404);
      if (captured.length > 10) captured.shift();
      if (number % 100 === 0) say(`${number} activations, ${kills} kills`);
    }
    active = false;
    await Promise.all(others);
    for (const node of cluster.nodes) await eventually(async () => expect(await servedBy(node)).to.equal(newest));
    expect(seen).to.deep.equal([]);
    expect(kills).to.be.greaterThan(0);
  });

  const drawnNode = (): ClusterNode => cluster.nodes[Math.floor(random() * 3)] as ClusterNode;
});

const routeOf = (number: number) => ({
  id: 'numbered',
  name: 'numbered',
  match: { path: '/' },
  directResponse: { status: 200, body: String(number) },
});

const within = { withinMs: 12_000 };
const edit = ({ url }: ClusterNode, number: number) =>
  call(url, 'PUT', '/api/v1/routes/numbered', { body: routeOf(number), ...within });
/** The key makes a repeated request one capture. */
const capture = ({ url }: ClusterNode, number: number) => {
  const headers = { 'idempotency-key': `activation-${number}` };
  return call(url, 'POST', '/api/v1/snapshots', { body: { name: `activation-${number}` }, headers, ...within });
};
const activate = ({ url }: ClusterNode, id: string) => call(url, 'POST', `/api/v1/snapshots/${id}/activate`, within);
const remove = ({ url }: ClusterNode, id: string) => call(url, 'DELETE', `/api/v1/snapshots/${id}`, within);

/** Asks again after what a kill excuses; `done` is what a repetition is told when the first request took effect. */
async function untilAccepted(step: () => ReturnType<typeof call>, done?: number): Promise<Record<string, unknown>> {
  const end = performance.now() + 60_000;
  for (let repeated = false; ; repeated = true) {
    const answer = await step().catch(() => undefined);
    const isDone = answer !== undefined && (answer.status < 300 || (repeated && answer.status === done));
    if (isDone) return (answer.json ?? {}) as Record<string, unknown>;
    if (answer !== undefined && answer.status < 500) throw new Error(`${answer.status} ${answer.text}`);
    if (performance.now() > end) throw new Error(`not accepted: ${answer?.text}`);
    await pause(20);
  }
}
