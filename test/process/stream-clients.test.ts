// fleet.md §3: a thousand proxies on one node. The unit tests of the queue show that its thread is never held for long;
// here every proxy gets every event, and costs little memory.
import { expect } from 'chai';
import { type ApiClient, apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { memoryKbOf } from '../support/proc-figures.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';
import { StreamClient } from '../support/stream-clients.ts';

const count = 1_000;

describe(`${count} proxies that follow one node`, () => {
  let node: SluiceProcess;
  let api: ApiClient;
  let clients: StreamClient[] = [];

  before(async () => {
    node = await startSluice({ more: 'proxy: { workers: 1 }' });
    api = apiClient(node.url);
    const operations = Array.from({ length: 1_000 }, (_, i) => ({
      op: 'create',
      kind: 'routes',
      body: { name: `r${i}`, match: { pathPrefix: `/r/${i}` }, directResponse: { status: 200, body: `hello ${i}` } },
    }));
    expect((await api.post('/batch', { operations })).status).to.equal(200);
    await api.activateAs('v1');
  });

  after(async () => {
    close();
    await node.stop('SIGKILL');
  });

  const close = (): void => {
    for (const client of clients.splice(0)) client.close();
  };

  const connectAll = async (headers: Readonly<Record<string, string>> = {}): Promise<void> => {
    const all = Array.from({ length: count }, (_, i) =>
      StreamClient.open(node.url, { 'x-sluice-proxy': `p${i}`, 'x-sluice-boot': `${i}`, ...headers }),
    );
    clients = await Promise.all(all);
  };

  const everyoneHas = async (events: number): Promise<void> => {
    const late = () => clients.filter((client) => client.events < events).length;
    await eventually(() => expect(late()).to.equal(0));
  };

  const residentMb = (): number => memoryKbOf(node.child.pid) / 1024;

  it('connect at once, and each gets the configuration and the next one, for little memory', async function () {
    if (process.platform !== 'linux') this.skip();
    await connectAll();
    await everyoneHas(1);
    const before = residentMb();
    await api.activateAs('v2');
    await everyoneHas(2);
    expect(residentMb() - before).to.be.lessThan(100);
    const { body } = await api.get<{ summary: { total: number } }>('/fleet');
    expect(body.summary.total).to.equal(count + 1);
  });

  it('come back at once and are not sent again what they have', async () => {
    const { body: fleet } = await api.get<{ proxies: { wanted: { index: number; sha256: string } }[] }>('/fleet');
    const { body: overview } = await api.get<{ clusterId: string }>('/cluster');
    const { index, sha256 } = fleet.proxies[0]?.wanted ?? { index: 0, sha256: '' };
    close();
    await connectAll({ 'x-sluice-has': `${overview.clusterId} ${index} ${sha256}` });
    await everyoneHas(1);
    expect(Math.max(...clients.map(({ bytes }) => bytes))).to.be.lessThan(2_000);
  });
});
