// Two owners who publish their parts of one configuration at once, from two nodes, while leaders are killed, beside the
// unfinished edits of a third.
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type Answer, call } from '../support/http-call.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';

const rounds = 10;
const entities = 5;

interface Route {
  readonly id: string;
  readonly owner?: string;
  readonly directResponse: { readonly body: string };
}

const route = (id: string, text: string) => ({
  id,
  name: id,
  match: { path: `/${id}` },
  directResponse: { status: 200, body: text },
});
const upsert = (id: string, text: string) => ({ op: 'upsert', kind: 'routes', id, body: route(id, text) });

/** Routes of an owner after a round; the last of them goes with the next round. */
const routesOf = (owner: string, round: number): Record<string, string> => {
  const kept = Array.from({ length: entities }, (_, at) => [`${owner}-${at}`, `${owner} ${round}`]);
  return Object.fromEntries([...kept, [`${owner}-only-${round}`, `${owner} ${round}`]]);
};

describe('owners who publish at once in a cluster', function () {
  this.timeout(600_000);
  let cluster: NodeCluster;

  before(async () => {
    cluster = await NodeCluster.start();
  });

  after(() => cluster.stop());

  /** Sends until an answer is certain, to that node or, where it does not run, to another. */
  const send = (at: number, method: string, path: string, body?: unknown, key?: string): Promise<Answer> => {
    let tries = 0;
    return eventually(async () => {
      const node = cluster.nodes[(at + tries) % cluster.nodes.length] as ClusterNode;
      tries += 1;
      const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
      const answer = await call(node.url, method, `/api/v1${path}`, {
        headers,
        ...(body !== undefined && { body }),
        withinMs: 30_000,
      });
      expect(answer.status, answer.text.slice(0, 300)).to.be.within(200, 299);
      return answer;
    });
  };
  const texts = (routes: readonly Route[]) =>
    Object.fromEntries(routes.map(({ id, directResponse }) => [id, directResponse.body]));
  const staged = async () => texts((await send(0, 'GET', '/routes')).json as Route[]);
  const live = async () => texts(((await send(0, 'GET', '/debug/config')).json as { routes: Route[] }).routes);

  it('publish all of theirs and nothing of what others have staged, which stays', async () => {
    const first = {
      operations: [upsert('edited', 'live'), upsert('gone', 'live')],
      snapshot: { name: 'first', activate: true },
    };
    await send(0, 'POST', '/batch', first, 'first');
    await send(0, 'PUT', '/routes/edited', route('edited', 'unfinished'));
    await send(0, 'POST', '/batch', { operations: [upsert('new', 'unfinished')] }, 'new');
    await send(0, 'POST', '/batch', { operations: [{ op: 'delete', kind: 'routes', id: 'gone' }] }, 'gone');

    const done = { shop: 0, pay: 0 };
    const publish = async (owner: 'shop' | 'pay', at: number): Promise<void> => {
      for (let round = 1; round <= rounds; round++) {
        const operations = Object.entries(routesOf(owner, round)).map(([id, text]) => upsert(id, text));
        const snapshot = { name: `${owner} ${round}`, activate: true, base: 'active', keep: 2 };
        // By its key a round that was answered by a node that is dead now is published once.
        await send(at, 'POST', '/batch', { operations, owner, prune: true, snapshot }, `${owner}-${round}`);
        done[owner] = round;
      }
    };
    const kill = async (): Promise<void> => {
      for (const from of [2, 5]) {
        await eventually(() => expect(Math.min(done.shop, done.pay)).to.be.at.least(from), { withinMs: 300_000 });
        const leader = await cluster.leader();
        await leader.stop('SIGKILL');
        await eventually(() => leader.start());
      }
    };
    await Promise.all([publish('shop', 0), publish('pay', 1), kill()]);

    const published = { ...routesOf('shop', rounds), ...routesOf('pay', rounds) };
    // A node that did not take the last write may show it a moment later.
    await eventually(async () => expect(await live()).to.deep.equal({ edited: 'live', gone: 'live', ...published }));
    expect(await staged()).to.deep.equal({ edited: 'unfinished', new: 'unfinished', ...published });

    const history = (await send(0, 'GET', '/activations?limit=1000')).json as { name: string }[];
    const names = ['shop', 'pay'].flatMap((owner) => Array.from({ length: rounds }, (_, at) => `${owner} ${at + 1}`));
    expect(history.map(({ name }) => name)).to.have.members(['first', ...names]);

    const { entities: edits } = (await send(0, 'GET', '/staged/diff')).json as {
      entities: Record<'created' | 'changed' | 'deleted', { id: string }[]>;
    };
    const ids = Object.fromEntries(Object.entries(edits).map(([what, list]) => [what, list.map(({ id }) => id)]));
    expect(ids).to.deep.equal({ created: ['new'], changed: ['edited'], deleted: ['gone'] });

    // Each kept snapshot of an owner shows what was live then.
    const snapshots = (await send(0, 'GET', '/snapshots?owner=shop')).json as { id: string; name: string }[];
    expect(snapshots.map(({ name }) => name)).to.include(`shop ${rounds}`);
    expect(snapshots.length).to.be.within(1, 3);
    for (const { id } of snapshots) {
      const { snapshot } = (await send(0, 'GET', `/snapshots/${id}`)).json as { snapshot: { routes: Route[] } };
      expect(texts(snapshot.routes)).to.include({ edited: 'live', gone: 'live' }).and.not.have.property('new');
    }
  });
});
