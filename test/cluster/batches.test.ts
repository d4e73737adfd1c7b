// Many writes at once on a real cluster, sent to a node that does not lead: how long they take, that no other request
// waits meanwhile, and that the largest of them unseats no leader.
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type Answer, type CallOptions, call } from '../support/http-call.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';

const route = (at: number) => ({
  name: `route-${at}`,
  match: { pathPrefix: `/tenant-${at}`, methods: ['GET', 'POST'], headers: [{ name: 'x-tenant', value: `t${at}` }] },
  directResponse: { status: 200, body: `answer ${at}` },
});
const upserts = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ op: 'upsert', kind: 'routes', by: 'name', body: route(at) }));

/** Longest times in which the node answered `GET /healthz`, until `stop`; milliseconds, descending. */
function watch(node: ClusterNode): () => Promise<number[]> {
  const times: number[] = [];
  let going = true;
  const watching = (async () => {
    while (going) {
      const startedAt = performance.now();
      await call(node.url, 'GET', '/healthz');
      times.push(performance.now() - startedAt);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  return async () => {
    going = false;
    await watching;
    return times.sort((a, b) => b - a);
  };
}

describe('batches in a cluster', function () {
  this.timeout(600_000);
  let cluster: NodeCluster;
  let leader: ClusterNode;
  let follower: ClusterNode;

  before(async () => {
    cluster = await NodeCluster.start();
    leader = await cluster.leader();
    [follower = leader] = await cluster.followers();
  });

  after(() => cluster.stop());

  /** Posts again while there is no leader or the outcome is unknown: all that these batches do may be done twice. */
  const post = (node: ClusterNode, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    eventually(async () => {
      const answer = await call(node.url, 'POST', '/api/v1/batch', { body, headers });
      expect(answer.status, answer.text.slice(0, 300)).to.not.be.oneOf([503, 504]);
      return answer;
    });
  const termOf = async (node: ClusterNode): Promise<string | undefined> => {
    const { text } = await call(node.url, 'GET', '/metrics').catch(() => ({ text: '' }));
    return /^sluice_raft_term(?:\{[^}]*\})? (\d+)$/m.exec(text)?.[1];
  };

  it('of ten thousand routes are committed and readable everywhere, and delay no other request', async () => {
    const body = JSON.stringify({ operations: upserts(10_000) });
    const watches = cluster.nodes.map(watch);
    const startedAt = performance.now();
    // By its key a repetition is told what the first one did.
    const answer = await post(follower, body, { 'idempotency-key': 'ten-thousand' });
    const answeredAt = performance.now();
    expect(answer.status, answer.text.slice(0, 300)).to.equal(200);
    const { index, results } = answer.json as { index: number; results: { changed: boolean }[] };
    expect(results.filter(({ changed }) => changed)).to.have.lengthOf(10_000);
    for (const node of cluster.nodes) {
      await eventually(async () => {
        const read = await call(node.url, 'GET', `/api/v1/groups?consistency=stale&minRevision=${index}`);
        expect(read.status, read.text).to.equal(200);
      });
    }
    const readableAt = performance.now();
    const slowest = await Promise.all(watches.map((stop) => stop()));
    const p99 = slowest.map((times) => times[Math.floor(times.length / 100)] ?? 0);
    if (process.env.SLUICE_TEST_VERBOSE) {
      console.log({
        answered: answeredAt - startedAt,
        readable: readableAt - startedAt,
        slowest: slowest.map(([t]) => t),
        p99,
      });
    }
    for (const node of cluster.nodes) {
      const { json } = await call(node.url, 'GET', '/api/v1/routes?consistency=stale');
      expect(json).to.have.lengthOf(10_000);
    }
    const again = await post(follower, body);
    const unchanged = (again.json as { results: { changed: boolean }[] }).results.filter(({ changed }) => !changed);
    expect(unchanged).to.have.lengthOf(10_000);
  });

  it('from all sides at once are one after the other: each sees all of the ones before it or nothing', async () => {
    const turn = (node: ClusterNode, value: number) =>
      post(node, {
        operations: ['a', 'b', 'c'].map((name) => ({
          op: 'upsert',
          kind: 'groups',
          by: 'name',
          body: { name: `together-${name}`, pathPrefix: `/${value}` },
        })),
      });
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(cluster.nodes.map((node, at) => turn(node, round * 10 + at)));
      for (const { status, text } of answers) expect(status, text).to.equal(200);
      for (const node of cluster.nodes) {
        const { json } = await call(node.url, 'GET', '/api/v1/groups');
        const seen = (json as { name: string; pathPrefix: string }[]).filter(({ name }) => name.startsWith('together'));
        expect(new Set(seen.map(({ pathPrefix }) => pathPrefix)).size).to.equal(1);
        expect(seen).to.have.lengthOf(3);
      }
    }
  });

  it('take effect once and whole when the leader is killed while they are on their way', async () => {
    for (const afterMs of [0, 150, 400]) {
      const present = await cluster.leader();
      const [survivor = present, other = present] = await cluster.followers();
      const mark = `kill-${afterMs}`;
      const operations = Array.from({ length: 3_000 }, (_, at) => ({
        op: 'create',
        kind: 'groups',
        body: { id: `${mark}-${at}`, name: `${mark}-${at}` },
      }));
      const options = { body: { operations }, headers: { 'idempotency-key': mark } };
      const ask = (): Promise<Answer> => call(survivor.url, 'POST', '/api/v1/batch', options);
      const first = ask();
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      await present.stop('SIGKILL');
      const answer = await eventually(async () => {
        const { status, text } = (await first).status === 200 ? await first : await ask();
        expect(status, text.slice(0, 200)).to.equal(200);
        return JSON.parse(text) as { index: number; results: { changed: boolean }[] };
      });
      expect(answer.results.every(({ changed }) => changed)).to.equal(true);
      await present.start();
      for (const node of [survivor, other, present]) {
        const { json } = await call(node.url, 'GET', '/api/v1/groups');
        const made = (json as { name: string }[]).filter(({ name }) => name.startsWith(`${mark}-`));
        expect(made).to.have.lengthOf(3_000);
      }
    }
  });

  it('of thirty-two MiB pass through a follower, and the leader stays', async () => {
    const filler = 'x'.repeat(1_000_000);
    /** On a machine whose disk is busy with others a write may take so long that a node takes its disk for broken. */
    const asked = async (node: ClusterNode, ...what: [method: string, path: string, options?: CallOptions]) => {
      const answer = await call(node.url, ...what).catch((error: Error) => ({
        status: 0,
        text: error.message,
        json: {},
      }));
      if (answer.status === 0 || answer.text.includes('a log write has been outstanding')) {
        await node.stop('SIGKILL');
        // It writes what it missed, on the same disk.
        await eventually(() => node.start());
      }
      return answer;
    };
    /**
     * Returns whether the term was the same before and after; a machine that is busy with other work may unseat a
     * leader by itself.
     */
    const isUnmoved = async (round: number): Promise<boolean> => {
      const leader = await cluster.leader();
      const [follower = leader] = await cluster.followers();
      const term = await termOf(leader);
      const operations = Array.from({ length: 32 }, (_, at) => ({
        op: 'upsert',
        kind: 'secrets',
        by: 'name',
        body: { name: `large-${at}`, value: `${filler}${round}` },
      }));
      const options = { body: JSON.stringify({ operations }), headers: { 'idempotency-key': `large-${round}` } };
      const { index } = await eventually(
        async () => {
          const { status, text } = await asked(follower, 'POST', '/api/v1/batch', options);
          expect(status, text.slice(0, 300)).to.equal(200);
          return JSON.parse(text) as { index: number };
        },
        { withinMs: 180_000 },
      );
      for (const node of cluster.nodes) {
        await eventually(
          async () => {
            const read = await asked(node, 'GET', `/api/v1/secrets?consistency=stale&minRevision=${index}`);
            expect(read.json).to.have.lengthOf(32);
          },
          { withinMs: 180_000 },
        );
      }
      return (await termOf(leader)) === term && term !== undefined;
    };
    for (let round = 0; round < 10; round++) if (await isUnmoved(round)) return;
    expect.fail('ten large batches, and a new term each time');
  });
});
