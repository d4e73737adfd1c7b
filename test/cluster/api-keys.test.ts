// API keys of the cluster over three real nodes (contract.md §3.11): made at one, they count at all, until they are revoked at another.
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type Answer, call } from '../support/http-call.ts';
import { NodeCluster } from '../support/node-cluster.ts';
import { followStream } from '../support/request-stream.ts';

const admin = 'a'.repeat(24);

describe('API keys of three nodes', () => {
  let cluster: NodeCluster;

  before(async () => {
    cluster = await NodeCluster.start({
      controlPlane: `  auth:\n    apiKeys:\n      - { name: ops, key: "${admin}", role: admin }\n`,
      caller: { key: admin },
    });
  });
  after(() => cluster?.stop());

  const urls = (): string[] => cluster.nodes.map(({ url }) => url);
  const ask = (url: string, method: string, path: string, key: string, body?: object): Promise<Answer> =>
    call(url, method, `/api/v1${path}`, { key, ...(body && { body }) });
  /** Sends a write again while the cluster has no leader; it may have taken effect before. */
  const write = async (url: string, method: string, path: string, body?: object): Promise<Answer> =>
    await eventually(async () => {
      const answer = await ask(url, method, path, admin, body);
      expect(answer.status, answer.text).to.be.oneOf(method === 'DELETE' ? [204, 404] : [201]);
      return answer;
    });

  it('count at every node once they are made at one, also after a restart, and end everywhere', async () => {
    const [first = '', second = '', third = ''] = urls();
    const { json } = await write(first, 'POST', '/keys', { name: 'deploy', role: 'viewer' });
    const { id, key } = json as { id: string; key: string };
    for (const url of urls())
      await eventually(async () => expect((await ask(url, 'GET', '/whoami', key)).status, url).to.equal(200));
    const restarted = cluster.nodes[1];
    await restarted?.stop();
    await restarted?.start();
    expect((await ask(second, 'GET', '/whoami', key)).json).to.deep.include({ name: 'deploy', role: 'viewer' });
    const stream = await followStream(`${second}/api/v1/events`, { Authorization: `Bearer ${key}` });
    expect(stream.status).to.equal(200);
    await write(third, 'DELETE', `/keys/${id}`);
    for (const url of urls())
      await eventually(async () => expect((await ask(url, 'GET', '/whoami', key)).status, url).to.equal(401));
    await eventually(() => expect(stream.ended).to.equal(true));
    for (const url of urls()) expect((await ask(url, 'GET', '/keys', admin)).text, url).to.not.include(id);
  });
});
