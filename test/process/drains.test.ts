// Drains of endpoints over the whole fleet, as real processes (contract.md §3.8).
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { type ApiClient, apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { launchProxy, type ProxyProcess } from '../support/proxy-process.ts';
import { newFolder, type SluiceProcess, startSluice } from '../support/sluice-process.ts';

const settings = 'proxy: { workers: 2, bindAddress: 127.0.0.2 }';

describe('a drained endpoint', () => {
  const upstreams: Server[] = [];
  const folder = newFolder();
  let node: SluiceProcess;
  let api: ApiClient;
  let apart: ProxyProcess;
  let port: number;
  let apiPort: number;

  const nameOf = (at: number): string => `127.0.0.1:${(upstreams[at]?.address() as AddressInfo | undefined)?.port}`;
  const path = (at: number): string => `/destinations/d/endpoints/${encodeURIComponent(nameOf(at))}/drain`;

  before(async () => {
    for (const at of [0, 1]) {
      const upstream = createServer((_request, response) => response.end(String(at)));
      await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
      upstreams.push(upstream);
    }
    [port, apiPort] = [await freePort(), await freePort()];
    node = await startSluice({ folder, port: apiPort, more: settings });
    api = apiClient(node.url);
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port });
    const endpoints = [0, 1].map((at) => ({ host: '127.0.0.1', port: Number(nameOf(at).split(':')[1]) }));
    await api.create('destinations', { id: 'd', name: 'd', host: 'unused.test', port: 1, endpoints });
    const forward = { destinations: [{ destinationId: 'd', weight: 1 }] };
    await api.create('routes', { name: 'r', match: { pathPrefix: '/' }, forward });
    await api.activateAs('v1');
    apart = launchProxy({ controlPlanes: [`http://127.0.0.1:${apiPort}`] });
    await apart.ready();
  });

  after(async () => {
    await apart?.stop('SIGKILL');
    await node?.stop('SIGKILL');
    for (const upstream of upstreams) upstream.close();
  });

  /** Answers of twenty requests to a proxy: the node's listens on 127.0.0.2, the one apart on 127.0.0.1. */
  async function answersAt(host: string): Promise<string[]> {
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const response = await fetch(`http://${host}:${port}/`);
        return response.status === 200 ? await response.text() : String(response.status);
      }),
    );
    return [...new Set(answers)].sort();
  }

  async function everywhere(expected: readonly string[]): Promise<void> {
    for (const host of ['127.0.0.1', '127.0.0.2'])
      await eventually(async () => expect(await answersAt(host), host).to.deep.equal(expected));
  }

  it('gets no new requests of any proxy, and is shown so', async () => {
    await everywhere(['0', '1']);
    const { status, body } = await api.post(path(0));
    expect([status, body]).to.deep.equal([200, { destinationId: 'd', endpoint: nameOf(0), drained: true }]);
    await everywhere(['1']);
    const { body: shown } = await api.get('/destinations/d/endpoints');
    expect(shown).to.deep.include({
      destinationId: 'd',
      name: 'd',
      endpoints: [
        { endpoint: nameOf(0), state: 'drained' },
        { endpoint: nameOf(1), state: 'available' },
      ],
    });
    const { body: troubles } = await api.get<{ endpoints: object[] }[]>('/endpoints?state=unavailable');
    expect(troubles.map(({ endpoints }) => endpoints)).to.deep.equal([[{ endpoint: nameOf(0), state: 'drained' }]]);
    const question = { url: 'http://shop.test/' };
    const { body: explained } = await api.post<{ choice: { destinations: { endpoints: object[] }[] } }>(
      '/explain',
      question,
    );
    expect(explained.choice.destinations[0]?.endpoints[0]).to.include({ serves: false, because: 'drained' });
  });

  it('stays so over an activation, a restart of the node and of the proxy apart', async () => {
    await api.activateAs('v2');
    await everywhere(['1']);
    await node.stop('SIGKILL');
    node = await startSluice({ folder, port: apiPort, more: settings });
    await everywhere(['1']);
    await apart.stop('SIGKILL');
    apart = launchProxy({ controlPlanes: [`http://127.0.0.1:${apiPort}`] });
    await apart.ready();
    await everywhere(['1']);
  });

  it('makes its destination unavailable with all others, and serves again when it is undone', async () => {
    expect((await api.post(path(1))).status).to.equal(200);
    expect((await api.post(path(1))).status).to.equal(200);
    await everywhere(['502']);
    const { status, body } = await api.delete(path(0));
    expect([status, body]).to.deep.equal([200, { destinationId: 'd', endpoint: nameOf(0), drained: false }]);
    await everywhere(['0']);
    await api.delete(path(1));
    await everywhere(['0', '1']);
  });

  it('takes no fields, and one Idempotency-Key for one request', async () => {
    const headers = { 'idempotency-key': 'k' };
    const drain = async (body: string) =>
      (await fetch(`${node.url}/api/v1${path(0)}`, { method: 'POST', headers, body })).status;
    expect(await drain('[]')).to.equal(400);
    expect([await drain('{}'), await drain('{}'), await drain('{ }')]).to.deep.equal([200, 200, 422]);
    await api.delete(path(0));
  });

  it('is shown with the active name of its destination after that is renamed or deleted', async () => {
    const name = async () => (await api.get<{ name: string }>('/destinations/d/endpoints')).body.name;
    const { body: destination } = await api.get<object>('/destinations/d');
    await api.put('/destinations/d', { ...destination, name: 'renamed' });
    expect(await name()).to.equal('d');
    await api.delete('/destinations/d');
    expect(await name()).to.equal('d');
  });

  it('is one that is active', async () => {
    for (const unknown of ['/destinations/d/endpoints/nowhere:1/drain', '/destinations/none/endpoints/h:1/drain']) {
      expect((await api.post(unknown)).status, unknown).to.equal(404);
      expect((await api.delete(unknown)).status, unknown).to.equal(404);
    }
    expect((await api.get('/destinations/none/endpoints')).status).to.equal(404);
    expect((await api.get('/endpoints?state=broken')).status).to.equal(400);
  });
});
