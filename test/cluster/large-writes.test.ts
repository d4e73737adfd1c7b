// Largest requests that the API takes, on a real cluster: each one that passes the API must fit the log, the relay,
// the transport between nodes and a checkpoint.
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type Answer, call } from '../support/http-call.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';

const limit = 4 * 1024 * 1024;

/** A secret whose request body has exactly `length` bytes. */
function secretOf(name: string, length: number): string {
  const frame = JSON.stringify({ name, value: '' });
  return JSON.stringify({ name, value: 'x'.repeat(length - frame.length) });
}

describe('the largest writes', () => {
  let cluster: NodeCluster;
  let leader: ClusterNode;
  let follower: ClusterNode;

  before(async () => {
    const key = Buffer.alloc(32, 7).toString('base64');
    // Sealing adds to what the log carries.
    cluster = await NodeCluster.start({ controlPlane: `  encryption: { key: "${key}" }\n` });
    leader = await cluster.leader();
    [follower = leader] = await cluster.followers();
  });

  after(() => cluster.stop());

  const post = (node: ClusterNode, path: string, body: unknown, headers = {}): Promise<Answer> =>
    call(node.url, 'POST', `/api/v1${path}`, { body, headers });

  it('of exactly 4 MiB are taken on the leader and on a follower', async () => {
    for (const [name, node] of Object.entries({ leader, follower })) {
      const answer = await post(node, '/secrets', secretOf(name, limit), { 'idempotency-key': name.padEnd(128, '-') });
      expect(answer.status, answer.text.slice(0, 200)).to.equal(201);
    }
  });

  it('beyond it are 413 at once, and say so', async () => {
    for (const node of [leader, follower]) {
      const { status, json } = await post(node, '/secrets', secretOf('beyond', limit + 1));
      expect({ status, json }).to.deep.equal({ status: 413, json: { error: 'body is larger than 4 MiB' } });
    }
  });

  it('come by the dozen, from all sides', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) => {
        const node = cluster.nodes[at % cluster.nodes.length] ?? leader;
        return post(node, '/secrets', secretOf(`dozen-${at}`, limit - at));
      }),
    );
    // A leader with too much on its way says 503. Where the machine is too slow for the time that a write has, its outcome
    // is not known, and says so.
    for (const { status, text, json } of answers) {
      expect(status, text.slice(0, 200)).to.be.oneOf([201, 503, 504]);
      if (status === 504) expect(json).to.include({ outcome: 'unknown' });
    }
    // A secret that was answered 201 is there, with any outcome of the others.
    const { json } = await call(leader.url, 'GET', '/api/v1/secrets');
    const names = (json as { name: string }[]).map(({ name }) => name);
    const written = answers.flatMap(({ status }, at) => (status === 201 ? [`dozen-${at}`] : []));
    expect(written).to.not.deep.equal([]);
    expect(names).to.include.members(written);
  });

  it('are captured, activated and served, and reach a node that starts again', async () => {
    for (let at = 0; at < 12; at++) {
      const route = { name: `r${at}`, directResponse: { status: 200, body: 'y'.repeat(1_000_000) } };
      const created = await post(follower, '/routes', route);
      expect(created.status, created.text.slice(0, 200)).to.equal(201);
    }
    const captured = await post(follower, '/snapshots', { name: 'large' });
    expect(captured.status, captured.text.slice(0, 200)).to.equal(201);
    const { id } = captured.json as { id: string };
    const active = await post(leader, `/snapshots/${id}/activate`, undefined);
    expect(active.status, active.text.slice(0, 200)).to.equal(200);
    await follower.stop('SIGKILL');
    await follower.start();
    await eventually(async () => {
      const { text } = await call(follower.url, 'GET', '/api/v1/debug/config');
      expect(text.length).to.be.above(12_000_000);
    });
    expect((await call(follower.url, 'GET', '/readyz')).status).to.equal(200);
  });
});
