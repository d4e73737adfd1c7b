// Changes and traffic of the fleet from any of three nodes (contract.md §3.6, §3.7): a stream resumes at another node, the
// traffic of all proxies is in every answer.
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { NodeCluster } from '../support/node-cluster.ts';
import { type FollowedStream, followStream } from '../support/request-stream.ts';

interface Stats {
  readonly total: Readonly<Record<string, { readonly requestsPerSecond: number }>>;
  readonly routes: readonly {
    readonly id: string;
    readonly lastHit: string | null;
    readonly windows: Readonly<Record<string, { readonly requestsPerSecond: number }>>;
  }[];
  readonly unreachableNodes: readonly string[];
}

describe('changes and traffic of three nodes', () => {
  let cluster: NodeCluster;
  const streams: FollowedStream[] = [];

  before(async () => {
    cluster = await NodeCluster.start();
    await cluster.leader();
  });
  afterEach(() => {
    for (const stream of streams.splice(0)) stream.close();
  });
  after(() => cluster.stop());

  async function follow(url: string, lastEventId?: string): Promise<FollowedStream> {
    const stream = await followStream(
      `${url}/api/v1/events`,
      lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
    );
    streams.push(stream);
    return stream;
  }

  const staged = (stream: FollowedStream) => stream.events.filter(({ event }) => event === 'staged');

  it('have the same ids on every node, and a stream resumes at another node', async () => {
    const [first, second, third] = cluster.nodes;
    if (first === undefined || second === undefined || third === undefined) throw new Error('three nodes are needed');
    const [here, there] = [await follow(first.url), await follow(second.url)];
    await third.api.create('groups', { id: 'a', name: 'a' });
    await eventually(() => expect(staged(here)).to.have.length(1));
    await eventually(() => expect(staged(there)).to.deep.equal(staged(here)));
    const last = staged(here)[0]?.id;
    here.close();
    await third.api.create('groups', { id: 'b', name: 'b' });
    await eventually(() => expect(staged(there)).to.have.length(2));
    const resumed = await follow(second.url, last);
    await eventually(() => expect(staged(resumed)).to.deep.equal(staged(there).slice(1)));
    expect(staged(resumed)[0]?.data).to.deep.include({ kind: 'groups', ids: ['b'] });
  });

  it('add up the requests of all proxies, and name a node that does not answer', async () => {
    const [first, second, third] = cluster.nodes;
    if (first === undefined || second === undefined || third === undefined) throw new Error('three nodes are needed');
    const port = await freePort();
    await first.api.create('listeners', { name: 'web', port });
    await first.api.create('routes', { id: 'r', name: 'r', directResponse: { status: 200 } });
    await first.api.activateAs('v1');
    const ask = async (): Promise<void> => {
      for (const { proxyAddress } of cluster.nodes) await (await fetch(`http://${proxyAddress}:${port}/`)).text();
    };
    await eventually(ask);
    const requests = 10;
    for (const { api } of cluster.nodes) {
      await eventually(async () => {
        for (let i = 0; i < requests; i++) await ask();
        const { body } = await api.get<Stats>('/stats');
        const [route] = body.routes.filter(({ id }) => id === 'r');
        // All of the thirty are within the minute, whichever second they fell into.
        expect((route?.windows['60s']?.requestsPerSecond ?? 0) * 60).to.be.at.least(3 * requests - 0.01);
        expect((body.total['60s']?.requestsPerSecond ?? 0) * 60).to.be.at.least(3 * requests - 0.01);
        expect(route?.lastHit).to.be.a('string');
      });
    }
    await third.stop('SIGKILL');
    const { body } = await first.api.get<Stats>('/stats?routes=r');
    expect(body.unreachableNodes).to.deep.equal([third.nodeId]);
    await third.start();
  });
});
