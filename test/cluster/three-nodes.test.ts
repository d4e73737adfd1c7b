// Three real processes that are one cluster: start, write anywhere, read everywhere, lose the leader, roll.
import { expect } from 'chai';
import { type ClusterNode, clusterOf, leaderOf, startAll } from '../support/sluice-cluster.ts';
import { stateOf } from '../support/stored-state.ts';

const route = (id: string, version = 0) => ({ id, name: id, directResponse: { status: 200, body: String(version) } });

describe('three nodes', function () {
  this.timeout(60_000);
  let nodes: ClusterNode[];

  before(async () => {
    nodes = await clusterOf();
    await startAll(nodes);
  });

  after(() => Promise.all(nodes.map((node) => node.stop('SIGKILL'))));

  it('form one cluster with one leader', async () => {
    const leader = await leaderOf(nodes);
    expect(nodes).to.include(leader);
    const ids = nodes.map(({ output }) => /(?:creates|joins) cluster ([0-9a-f]+)/.exec(output.join('\n'))?.[1]);
    expect(new Set(ids).size).to.equal(1);
    expect(nodes.filter(({ output }) => output.join('\n').includes('creates cluster'))).to.have.length(1);
  });

  it('take a write on any node and show it on every other at once', async () => {
    for (let round = 0; round < 60; round++) {
      const [writer, ...others] = [...nodes.slice(round % 3), ...nodes.slice(0, round % 3)];
      const id = `seen-${round}`;
      const created = await writer?.api.post('/routes', route(id));
      expect(created?.status).to.equal(201);
      for (const { api } of others) expect((await api.get(`/routes/${id}`)).status, `round ${round}`).to.equal(200);
    }
  });

  it('give one name to one of many that ask for it at once', async () => {
    const asked = Array.from({ length: 20 }, (_, at) =>
      nodes[at % 3]?.api.post('/routes', { ...route('x'), id: undefined, name: 'wanted' }),
    );
    const statuses = (await Promise.all(asked)).map((answer) => answer?.status);
    expect(statuses.filter((status) => status === 201)).to.have.length(1);
    expect(statuses.filter((status) => status === 409)).to.have.length(19);
  });

  it('answer a follower as the leader would', async () => {
    const leader = await leaderOf(nodes);
    const created = await Promise.all(nodes.map(({ api, nodeId }) => api.post('/routes', route(`alike-${nodeId}`))));
    const shown = created.map(({ status, headers, body }) => ({
      status,
      headers: [...headers.keys()].sort(),
      fields: Object.keys(body),
    }));
    for (const each of shown) expect(each).to.deep.equal(shown[nodes.indexOf(leader)]);
    const repeated = await Promise.all(nodes.map(({ api }) => api.post('/routes', route('seen-0'))));
    expect(new Set(repeated.map(({ status, body }) => JSON.stringify({ status, body }))).size).to.equal(1);
  });

  it('lose no answered write when the leader is killed, and go on within seconds', async () => {
    const leader = await leaderOf(nodes);
    const others = nodes.filter((node) => node !== leader);
    const answered: string[] = [];
    const writers = others.map((node, at) => writeUntil(node, `killed-${at}`, 30, answered));
    await leader.stop('SIGKILL');
    await Promise.all(writers);
    for (const { api } of others) await expectAll(api, answered);
    await leader.start();
    await expectAll(leader.api, answered);
  });

  it('answer every write while one after the other is restarted', async () => {
    const answered: string[] = [];
    for (const [at, node] of nodes.entries()) {
      const others = nodes.filter((each) => each !== node);
      const writers = others.map((other, of) => writeUntil(other, `rolled-${at}-${of}`, 15, answered));
      expect(await node.stop()).to.equal(0);
      await node.start();
      await Promise.all(writers);
    }
    expect(answered).to.have.length(90);
    for (const { api } of nodes) await expectAll(api, answered);
  });

  it('hold the same state in the end', async () => {
    const last = await nodes[0]?.api.post('/routes', route('last'));
    const revision = Number(last?.headers.get('x-sluice-revision'));
    for (const { api } of nodes) await api.get(`/routes?minRevision=${revision}`);
    await Promise.all(nodes.map((node) => node.stop('SIGKILL')));
    const states = await Promise.all(nodes.map(({ folder }) => stateOf(folder)));
    expect(states[0]?.applied).to.be.at.least(revision);
    expect(new Set(states.map(({ applied, hash }) => `${applied} ${hash}`)).size).to.equal(1);
  });
});

/** Creates `count` routes one after the other; every one must be answered with 201, late perhaps. */
async function writeUntil({ api }: ClusterNode, name: string, count: number, answered: string[]): Promise<void> {
  for (let at = 0; at < count; at++) {
    const id = `${name}-${at}`;
    const { status, body } = await api.post('/routes', route(id));
    expect(status, JSON.stringify(body)).to.equal(201);
    answered.push(id);
  }
}

async function expectAll(api: ClusterNode['api'], ids: readonly string[]): Promise<void> {
  const { body } = await api.get<{ id: string }[]>('/routes');
  expect(body.map(({ id }) => id)).to.include.members([...ids]);
}
