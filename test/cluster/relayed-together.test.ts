// Many clients at once on the followers of three real processes: their writes travel to the leader together, and each is
// judged, answered and kept as if it had come alone.
import { expect } from 'chai';
import { type Answer, call } from '../support/http-call.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';

const route = (id: string, text = 'at first') => ({ id, name: id, directResponse: { status: 200, body: text } });
const clients = Array.from({ length: 64 }, (_, at) => at);

describe('writes that followers relay together', () => {
  let cluster: NodeCluster;
  let leader: ClusterNode;
  let followers: readonly ClusterNode[];

  before(async () => {
    cluster = await NodeCluster.start();
    leader = await cluster.leader();
    followers = await cluster.followers();
  });

  after(() => cluster.stop());

  const followerOf = (client: number): ClusterNode => followers[client % followers.length] ?? leader;
  const each = (ask: (client: number) => Promise<Answer>): Promise<Answer[]> => Promise.all(clients.map(ask));
  const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status);
  const create = (client: number, id: string): Promise<Answer> =>
    call(followerOf(client).url, 'POST', '/api/v1/routes', { body: route(id) });

  it('are decided each by itself: one of many with the same id, the others refused', async () => {
    const answers = await each((client) => create(client, 'wanted-by-all'));
    expect(statuses(answers).sort()).to.deep.equal([201, ...Array.from({ length: 63 }, () => 409)]);
  });

  it('keep their preconditions, errors and revisions, and are shown at once where they were answered', async () => {
    const created = await each((client) => create(client, `own-${client}`));
    expect(new Set(statuses(created))).to.deep.equal(new Set([201]));
    expect(new Set(created.map(({ headers }) => headers['x-sluice-revision'])).size).to.equal(64);
    const replaced = await each((client) => {
      const etag = client % 2 === 0 ? created[client]?.headers.etag : '"1"';
      const id = `own-${client}`;
      const headers = { 'if-match': String(etag) };
      return call(followerOf(client).url, 'PUT', `/api/v1/routes/${id}`, { headers, body: route(id, `by ${client}`) });
    });
    expect(statuses(replaced)).to.deep.equal(clients.map((client) => (client % 2 === 0 ? 200 : 412)));
    const shown = await each((client) =>
      call(followerOf(client).url, 'GET', `/api/v1/routes/own-${client}?consistency=stale`),
    );
    const texts = shown.map(({ text }) => JSON.parse(text).directResponse.body);
    expect(texts).to.deep.equal(clients.map((client) => (client % 2 === 0 ? `by ${client}` : 'at first')));
  });

  it('have one effect each when the leader is killed among them', async () => {
    const answers = clients.map((client) => create(client, `survivor-${client}`));
    await Promise.race(answers);
    await leader.stop('SIGKILL');
    for (const [client, answer] of (await Promise.all(answers)).entries()) {
      const { status, text } = answer;
      expect(status, text).to.be.oneOf([201, 503, 504]);
      const shown = await call(followerOf(client).url, 'GET', `/api/v1/routes/survivor-${client}`);
      if (status === 201) expect([shown.status, shown.headers.etag]).to.deep.equal([200, answer.headers.etag]);
      if (status === 503) expect(shown.status, text).to.equal(404);
    }
    await leader.start();
  });
});
