import { expect } from 'chai';
import { type ApiClient, apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { newFolder, type SluiceProcess, startSluice } from '../support/sluice-process.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** The configuration that every step of this story edits: one listener, one destination, one route. */
async function configure(api: ApiClient, { port, upstream }: { port: number; upstream: Upstream }) {
  await api.create('listeners', { name: 'web', address: '127.0.0.1', port });
  await api.create('destinations', { id: 'backend', name: 'backend', host: '127.0.0.1', port: upstream.port });
  await api.create('routes', {
    id: 'shop',
    name: 'shop',
    match: { pathPrefix: '/shop' },
    forward: { destinations: [{ destinationId: 'backend' }] },
  });
}

const textOf = async (url: string) => (await fetch(url)).text();

describe('the main job: edit, capture, activate, roll back, come back after a kill', () => {
  let sluice: SluiceProcess;
  let upstream: Upstream;
  const folder = newFolder();
  let api: ApiClient;
  let site: string;
  let first: string;

  before(async () => {
    upstream = await startUpstream('backend');
    sluice = await startSluice({ folder });
    api = apiClient(sluice.url);
    const port = await freePort();
    site = `http://127.0.0.1:${port}`;
    await configure(api, { port, upstream });
  });

  after(async () => {
    await sluice.stop();
    await upstream.close();
  });

  it('does not proxy what is only staged', async () => {
    const refused = await fetch(`${site}/shop`).catch((error: Error) => error);
    expect(refused).to.be.instanceOf(Error);
  });

  it('proxies as soon as an activation is answered', async () => {
    first = await api.activateAs('v1');
    expect(await textOf(`${site}/shop/cart?x=1`)).to.equal('backend GET /shop/cart?x=1');
  });

  it('says how many workers have installed it', async () => {
    const { headers } = await api.post(`/snapshots/${first}/activate`);
    const [done, of] = (headers.get('x-sluice-installed') ?? '').split('/').map(Number);
    expect(done).to.equal(of).and.to.be.at.least(1);
  });

  it('answers no_route for what no route matches', async () => {
    const response = await fetch(`${site}/elsewhere`);
    expect(response.status).to.equal(404);
    expect(response.headers.get('content-type')).to.equal('application/json');
    expect(await response.json()).to.deep.equal({ error: 'no_route', status: 404, message: 'no matching route' });
  });

  it('keeps an edit staged until the next activation', async () => {
    await api.put('/routes/shop', {
      name: 'shop',
      match: { pathPrefix: '/shop' },
      directResponse: { status: 200, body: 'closed' },
    });
    expect(await textOf(`${site}/shop`)).to.equal('backend GET /shop');
    await api.activateAs('v2');
    expect(await textOf(`${site}/shop`)).to.equal('closed');
  });

  it('rolls back by activating the first snapshot again', async () => {
    await api.post(`/snapshots/${first}/activate`);
    expect(await textOf(`${site}/shop`)).to.equal('backend GET /shop');
  });

  it('finds everything as it was after SIGKILL', async () => {
    const before = await api.get<unknown[]>('/snapshots');
    expect(await sluice.stop('SIGKILL')).to.equal('SIGKILL');
    sluice = await startSluice({ folder });
    api = apiClient(sluice.url);
    expect((await api.get<unknown[]>('/snapshots')).body).to.deep.equal(before.body);
    expect((await api.get('/routes/shop')).body).to.deep.include({ directResponse: { status: 200, body: 'closed' } });
    await eventually(async () => expect(await textOf(`${site}/shop`)).to.equal('backend GET /shop'));
  });
});
