// Continuous edits while the leader is killed again and again (security.md S34): what was created stays, what was deleted
// does not come back, and no proxy serves an older configuration after a newer one. `SLUICE_LEADER_CHANGES` says how often.
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { call } from '../support/http-call.ts';
import { drawnRandom, pause, say } from '../support/long-run.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { NumberedRoute, numberedRoute } from '../support/numbered-route.ts';
import { untilAccepted } from '../support/until-accepted.ts';
import { expectSameState } from '../support/verdict.ts';

const kills = Number(process.env.SLUICE_LEADER_CHANGES ?? 50);
const editors = 4;
/** Routes that one editor has at a time. */
const routesOfEditor = 8;

const routeOf = (id: string, number: number) => ({
  id,
  name: id,
  match: { path: `/${id}` },
  directResponse: { status: 200, body: String(number) },
});

describe('leaders that are killed during edits (S34)', function () {
  this.timeout(120_000 + kills * 20_000);
  const random = drawnRandom();
  let cluster: NodeCluster;
  let numbered: NumberedRoute;
  let active = true;

  beforeEach(async () => {
    cluster = await NodeCluster.start();
    numbered = await NumberedRoute.begin(await cluster.leader());
  });

  afterEach(async () => {
    active = false;
    await cluster.stop();
  });

  const drawnNode = (): ClusterNode => cluster.nodes[Math.floor(random() * 3)] as ClusterNode;

  /** Asks any node. `done`: what a repetition is told that already took effect. */
  const accepted = (method: string, path: string, options: { body?: unknown; key?: string; done?: number }) => {
    const { body, key, done } = options;
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
    const ask = () => call(drawnNode().url, method, `/api/v1${path}`, { body, headers, withinMs: 12_000 });
    return untilAccepted(ask, done);
  };

  /** Creates, changes and deletes routes of its own; what it holds in the end, and how many it deleted. */
  const edit = async (name: string): Promise<{ held: Map<string, number>; deleted: number }> => {
    const held = new Map<string, number>();
    let deleted = 0;
    for (let number = 1; active; number++) {
      const ids = [...held.keys()];
      const drawn = ids[Math.floor(random() * ids.length)];
      const id = `${name}-${number}`;
      if (drawn === undefined || (random() < 0.4 && ids.length < routesOfEditor)) {
        await accepted('POST', '/routes', { body: routeOf(id, number), key: id });
        held.set(id, number);
      } else if (random() < 0.5) {
        await accepted('PUT', `/routes/${drawn}`, { body: routeOf(drawn, number) });
        held.set(drawn, number);
      } else {
        await accepted('DELETE', `/routes/${drawn}`, { done: 404 });
        held.delete(drawn);
        deleted++;
      }
    }
    return { held, deleted };
  };

  const activate = async (): Promise<number> => {
    let newest = 0;
    let earlier: string | undefined;
    for (let number = 1; active; number++) {
      await accepted('PUT', '/routes/numbered', { body: numberedRoute(number) });
      const capture = { body: { name: `activation-${number}` }, key: `activation-${number}` };
      const { id } = (await accepted('POST', '/snapshots', capture)).json as { id: string };
      await accepted('POST', `/snapshots/${id}/activate`, {});
      newest = number;
      if (earlier !== undefined) await accepted('DELETE', `/snapshots/${earlier}`, { done: 404 });
      earlier = id;
    }
    return newest;
  };

  it(`loses no route, brings none back and serves nothing older, ${kills} times`, async () => {
    const editing = Promise.all(Array.from({ length: editors }, (_, at) => edit(`editor-${at}`)));
    const activating = activate();
    const watching = Promise.all(cluster.nodes.map((node) => numbered.stepsBack(node, () => active)));
    const killing = (async () => {
      for (let kill = 1; kill <= kills; kill++) {
        const leader = await cluster.leader();
        await leader.stop('SIGKILL');
        await pause(random() * 300);
        await leader.start();
        await pause(200 + random() * 800);
        if (kill % 10 === 0) say(`${kill} kills`);
      }
      active = false;
    })();
    const [edited, newest, steps] = await Promise.all([editing, activating, watching, killing]);
    const expected = new Map([['numbered', newest], ...edited.flatMap(({ held }) => [...held])]);
    for (const { api } of cluster.nodes) {
      const { body } = await api.get<ReturnType<typeof routeOf>[]>('/routes');
      const shown = new Map(body.map(({ id, directResponse }) => [id, Number(directResponse.body)]));
      expect(Object.fromEntries(shown)).to.deep.equal(Object.fromEntries(expected));
    }
    for (const node of cluster.nodes)
      await eventually(async () => expect(await numbered.servedIfAny(node)).to.equal(newest));
    expect(steps.flat()).to.deep.equal([]);
    const deleted = edited.reduce((sum, each) => sum + each.deleted, 0);
    say(`${kills} kills, ${expected.size} routes held, ${deleted} deleted, ${newest} activations`);
    expect(deleted).to.be.greaterThan(0);
    await expectSameState(cluster);
  });
});
