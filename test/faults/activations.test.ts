// Activations while nodes are killed and started again (raft.md C6, row 12; security.md S34 and S35), and how soon every
// proxy has one. The body that a proxy serves is the number of the activation that it follows.
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { call } from '../support/http-call.ts';
import { drawnRandom, pause, say } from '../support/long-run.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { NumberedRoute, numberedRoute } from '../support/numbered-route.ts';
import { untilAccepted } from '../support/until-accepted.ts';
import { quantile } from '../support/verdict.ts';

const activations = Number(process.env.SLUICE_ACTIVATIONS ?? 1_000);

describe('activations in a cluster', function () {
  this.timeout(900_000);
  const random = drawnRandom();
  let cluster: NodeCluster;
  let numbered: NumberedRoute;

  beforeEach(async () => {
    cluster = await NodeCluster.start();
    numbered = await NumberedRoute.begin(await cluster.leader());
  });

  afterEach(() => cluster.stop());

  /** Activates `number` on one node; when each proxy has it, milliseconds after the answer. */
  const delaysOf = async (number: number): Promise<number[]> => {
    const node = cluster.nodes[number % 3] as ClusterNode;
    await numbered.activate(node, number);
    const answeredAt = performance.now();
    const delayOf = async (each: ClusterNode): Promise<number> => {
      await eventually(async () => expect(await numbered.servedIfAny(each)).to.equal(number));
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
    const watching = Promise.all(cluster.nodes.map((node) => numbered.stepsBack(node, () => active)));
    const killing = kill();
    for (let number = 1; number <= activations; number++) {
      await untilAccepted(() => edit(drawnNode(), number));
      const { id } = (await untilAccepted(() => capture(drawnNode(), number))).json as { id: string };
      await untilAccepted(() => activate(drawnNode(), id));
      newest = number;
      captured.push(id);
      if (captured.length > 10) await untilAccepted(() => remove(drawnNode(), captured[0] ?? ''), 404);
      if (captured.length > 10) captured.shift();
      if (number % 100 === 0) say(`${number} activations, ${kills} kills`);
    }
    active = false;
    const [steps] = await Promise.all([watching, killing]);
    for (const node of cluster.nodes)
      await eventually(async () => expect(await numbered.servedIfAny(node)).to.equal(newest));
    expect(steps.flat()).to.deep.equal([]);
    expect(kills).to.be.greaterThan(0);
  });

  const drawnNode = (): ClusterNode => cluster.nodes[Math.floor(random() * 3)] as ClusterNode;
});

const within = { withinMs: 12_000 };
const edit = ({ url }: ClusterNode, number: number) =>
  call(url, 'PUT', '/api/v1/routes/numbered', { body: numberedRoute(number), ...within });
/** The key makes a repeated request one capture. */
const capture = ({ url }: ClusterNode, number: number) => {
  const headers = { 'idempotency-key': `activation-${number}` };
  return call(url, 'POST', '/api/v1/snapshots', { body: { name: `activation-${number}` }, headers, ...within });
};
const activate = ({ url }: ClusterNode, id: string) => call(url, 'POST', `/api/v1/snapshots/${id}/activate`, within);
const remove = ({ url }: ClusterNode, id: string) => call(url, 'DELETE', `/api/v1/snapshots/${id}`, within);
