import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';

/** A request whose body is sent in two halves. The server has it when this resolves. */
async function beginRequest({ ports }: ClusterNode, body: string): Promise<{ finish(): Promise<string> }> {
  const socket = connect(ports.api, '127.0.0.1');
  const received: string[] = [];
  socket.setEncoding('utf8').on('data', (text: string) => received.push(text));
  const half = body.length / 2;
  socket.write(
    'POST /api/v1/groups HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n' +
      `Content-Length: ${body.length}\r\n\r\n${body.slice(0, half)}`,
  );
  await eventually(() => expect(received.join('')).to.contain('100 Continue'));
  return {
    async finish() {
      received.length = 0;
      await ended(socket, body.slice(half));
      return received.join('');
    },
  };
}

async function ended(socket: Socket, rest: string): Promise<void> {
  socket.write(rest);
  await once(socket, 'close');
}

describe('a leader that is stopped', () => {
  let cluster: NodeCluster;

  beforeEach(async () => {
    cluster = await NodeCluster.start();
  });

  afterEach(() => cluster.stop());

  it('lets another node lead before its requests are over, and relays what it still has', async () => {
    const former = await cluster.leader();
    const { process } = former;
    const others = cluster.nodes.filter((node) => node !== former);
    const request = await beginRequest(former, '{"name":"begun under the former leader"}');
    const stopped = former.stop();
    await eventually(async () => {
      for (const node of others) expect(others.map(({ nodeId }) => nodeId)).to.include((await node.overview()).leader);
    });
    expect(process?.child.exitCode, 'it waits for the request').to.equal(null);
    expect(await request.finish()).to.match(/^HTTP\/1\.1 201 /);
    expect(await stopped).to.equal(0);
    for (const { api } of others)
      expect((await api.get<{ name: string }[]>('/groups')).body.map(({ name }) => name)).to.deep.equal([
        'begun under the former leader',
      ]);
  });

  it('answers every request that it takes, until it takes none', async () => {
    const former = await cluster.leader();
    const others = cluster.nodes.filter((node) => node !== former);
    const answered: string[] = [];
    const refused: string[] = [];
    const state = { over: false };
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let at = 0; !state.over; at++) {
        const name = `w${writer}-${at}`;
        // A connection that was refused or cut is no answer: the client goes to another node.
        const answer = await former.api.post('/groups', { name }).catch(() => undefined);
        if (answer?.status === 201) answered.push(name);
        else if (answer !== undefined) refused.push(`${answer.status} ${JSON.stringify(answer.body)}`);
      }
    });
    await eventually(() => expect(answered).to.have.length.above(50));
    expect(await former.stop()).to.equal(0);
    state.over = true;
    await Promise.all(writers);
    expect(refused).to.deep.equal([]);
    for (const { api } of others) {
      const { body } = await api.get<{ name: string }[]>('/groups');
      expect(body.map(({ name }) => name)).to.include.members(answered);
    }
  });
});
