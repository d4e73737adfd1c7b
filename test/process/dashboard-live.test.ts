// Stories of a dashboard that follows what happens around it: proxies that come and go, endpoints that fail, a disk that is full.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { dashboardStory } from '../support/dashboard-story.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { launchProxy, type ProxyProcess } from '../support/proxy-process.ts';
import { SmallDisk } from '../support/small-disk.ts';

describe('the dashboard as the fleet changes', function () {
  this.timeout(240_000);
  let upstream: Server;
  let isWell = true;
  let apart: ProxyProcess | undefined;
  const endpoint = (): string => `127.0.0.1:${(upstream.address() as AddressInfo).port}`;

  // The listener is at another address in the node, so that a proxy of the same machine has room beside it.
  const story = dashboardStory(
    async (api) => {
      upstream = createServer((_, response) => response.writeHead(isWell ? 200 : 503).end());
      upstream.listen(0, '127.0.0.1');
      await once(upstream, 'listening');
      const { port } = upstream.address() as AddressInfo;
      const healthCheck = { path: '/', interval: '100ms', unhealthyThreshold: 1, healthyThreshold: 1 };
      await api.put('/listeners/web', { name: 'web', port: story.port });
      await api.create('destinations', { id: 'shop', name: 'shop', host: '127.0.0.1', port, options: { healthCheck } });
      const forward = { destinations: [{ destinationId: 'shop', weight: 1 }] };
      await api.create('routes', { id: 'all', name: 'all', match: { pathPrefix: '/' }, forward });
      await api.activateAs('v1');
    },
    { more: 'proxy: { workers: 1, bindAddress: 127.0.0.2 }\n' },
  );
  after(async () => {
    await apart?.stop();
    upstream?.closeAllConnections();
    upstream?.close();
  });

  it('is Topology: an endpoint that becomes unhealthy, and is well again', async () => {
    const { page } = await story.visit('topology');
    const box = (state: string) => page.getByRole('button', { name: `Endpoints: ${endpoint()}${state}`, exact: true });
    await box('').waitFor();
    isWell = false;
    await box(', unhealthy').waitFor();
    isWell = true;
    await box('').waitFor();
  });

  it('is Topology and Fleet: a proxy that joins, and leaves', async () => {
    const { page } = await story.visit('topology');
    const listener = (label: string) => page.getByRole('button', { name: `Listeners: ${label}`, exact: true });
    const proxies = page.getByRole('table', { name: 'Proxies' }).getByRole('row');
    await listener('web').waitFor();
    apart = launchProxy({ controlPlanes: [story.sluice.url], proxy: '  id: apart\n  bindAddress: 127.0.0.3' });
    await listener('web, 2 proxies').waitFor();
    await page.getByRole('link', { name: 'Fleet', exact: true }).click();
    await proxies.filter({ hasText: 'apart' }).filter({ hasText: 'current' }).waitFor();
    await page.getByText(/^2 current/).waitFor();
    await apart.stop();
    await proxies.filter({ hasText: 'apart' }).filter({ hasText: 'disconnected' }).waitFor();
    await page.getByRole('link', { name: 'Topology', exact: true }).click();
    await listener('web').waitFor();
  });
});

describe('the dashboard as others edit many routes', function () {
  this.timeout(240_000);
  const many = 2_100;
  const upserts = (count: number, status: number) =>
    Array.from({ length: count }, (_, at) => ({
      ...{ op: 'upsert', kind: 'routes', id: `r${at}` },
      body: { id: `r${at}`, name: `r${at}`, match: { path: `/r${at}` }, directResponse: { status } },
    }));
  const story = dashboardStory(async (api) => {
    const { status, body } = await api.post<object>('/batch', { operations: upserts(many, 200) });
    expect(status, JSON.stringify(body)).to.equal(200);
  });

  it('reads the list of routes again where a route is made while the list is read', async () => {
    const { api } = story;
    const { page } = await story.visit('routes');
    const list = (count: number) => page.locator(`[role=table][aria-label="Routes"][aria-rowcount="${count}"]`);
    await list(many).waitFor();
    const { promise: isRead, resolve: noteRead } = Promise.withResolvers<void>();
    const { promise: isMade, resolve: noteMade } = Promise.withResolvers<void>();
    let reads = 0;
    await page.route('**/api/v1/routes', async (route) => {
      reads++;
      const response = await route.fetch();
      noteRead();
      await isMade;
      await route.fulfill({ response });
    });
    // More edits than the page reads one by one.
    await api.post('/batch', { operations: upserts(50, 204) });
    await isRead;
    await api.create('routes', { id: 'newest', name: 'newest', match: { path: '/newest' }, redirect: { path: '/' } });
    await page.getByText(`Staged: ${(many + 2).toLocaleString('en')} changes`, { exact: true }).waitFor();
    noteMade();
    // The list that was under way is older than the route.
    await eventually(() => expect(reads).to.equal(2));
    await list(many + 1).waitFor();
  });
});

describe('the dashboard as its event stream opens late', function () {
  this.timeout(240_000);
  const story = dashboardStory((api) => api.create('groups', { id: 'first', name: 'first', routeIds: [] }));

  it('reads a list again that was under way, and is older than the stream', async () => {
    const { api } = story;
    const { page } = await story.visit('overview');
    const { promise: isMade, resolve: noteMade } = Promise.withResolvers<void>();
    await page.route('**/api/v1/events', async (route) => {
      await isMade;
      await route.continue();
    });
    let reads = 0;
    await page.route('**/api/v1/groups', async (route) => {
      if (reads++ > 0) return route.continue();
      const response = await route.fetch();
      const isOpen = page.waitForResponse('**/api/v1/events');
      await api.create('groups', { id: 'second', name: 'second', routeIds: [] });
      noteMade();
      await isOpen;
      await route.fulfill({ response });
    });
    await page.goto(`${story.sluice.url}/ui/groups`);
    await page.getByRole('link', { name: 'second', exact: true }).waitFor();
  });
});

describe('the dashboard of a node with two listeners', function () {
  this.timeout(240_000);
  const story = dashboardStory(async (api, { port }) => {
    const other = await freePort();
    await api.create('listeners', { id: 'aside', name: 'aside', address: '127.0.0.1', port: other });
    for (const [id, status] of [['web', 201] as const, ['aside', 202] as const])
      await api.create('routes', {
        ...{ id: `on-${id}`, name: `on-${id}`, match: { path: '/here' }, listenerIds: [id] },
        directResponse: { status },
      });
    await api.activateAs('v1');
    await eventually(async () => expect((await fetch(`http://127.0.0.1:${port}/here`)).status).to.equal(201));
  });

  it('explains a request on the listener that it came in on, not on the one that its URL would lead to', async () => {
    const { page } = await story.visit('requests');
    const row = page.getByRole('table', { name: 'Requests' }).getByRole('row').filter({ hasText: 'on-web' }).first();
    await row.getByRole('button').click();
    await page.getByRole('button', { name: 'Explain now' }).click();
    const active = page.getByRole('region', { name: 'Active', exact: true });
    await active.getByRole('link', { name: 'on-web' }).waitFor();
    expect(await active.getByRole('link', { name: 'on-aside' }).count()).to.equal(0);
  });
});

describe('the dashboard as the API answers errors', function () {
  this.timeout(240_000);
  const story = dashboardStory((api) => api.activateAs('v1'));

  it('says on Overview what is not known, until it is read again', async () => {
    const { page, expected } = await story.visit('topology');
    expected.add(503);
    await page.getByText('Active: v1', { exact: true }).waitFor();
    await page.route('**/api/v1/**', (route) => {
      const isAnswered = /\/(?:events|whoami)$/.test(route.request().url());
      return isAnswered ? route.continue() : route.fulfill({ status: 503, json: { error: 'it is out of order' } });
    });
    await page.goto(`${story.sluice.url}/ui/overview`);
    const alert = page.getByRole('alert').filter({ hasText: 'it is out of order' });
    await alert.filter({ hasText: 'traffic' }).filter({ hasText: 'disks' }).waitFor();
    const needed = page.getByRole('region', { name: 'Needs attention' });
    await needed.getByText('Not known: nodes, proxies and listeners, endpoints, disks, certificates.').waitFor();
    expect(await needed.getByText('Nothing:').count()).to.equal(0);
    await page.getByText('Staged: …', { exact: true }).waitFor();
    await page.getByText('Active: …', { exact: true }).waitFor();
    await page.unroute('**/api/v1/**');
    await needed.getByText('Not known').waitFor({ state: 'detached' });
    await alert.waitFor({ state: 'detached' });
    await page.getByText('Active: v1', { exact: true }).waitFor();
  });
});

describe('the dashboard as a disk fills', function () {
  this.timeout(240_000);
  const disk = new SmallDisk();
  before(function () {
    disk.mount(this, '128m');
  });
  const story = dashboardStory((api) => api.activateAs('v1'), { folder: disk.folder });
  after(() => disk.unmount());

  it('names the full disk in Overview, and says so until there is room again', async () => {
    const { page } = await story.visit('overview');
    const needed = page.getByRole('region', { name: 'Needs attention' });
    await needed.getByText('Nothing:', { exact: false }).waitFor();
    disk.fill(300);
    await needed.getByText(/The disk of node \S+ is full: .* of 128 MiB free/).waitFor();
    const { status } = await story.api.post('/routes', { name: 'refused', directResponse: { status: 200 } });
    expect(status).to.equal(503);
    await needed.getByRole('link', { name: /is full/ }).click();
    await page
      .getByRole('table', { name: 'Members' })
      .getByText(/free, full$/)
      .waitFor();
    disk.empty();
    await eventually(async () =>
      expect((await story.api.post('/groups', { name: 'taken', routeIds: [] })).status).to.equal(201),
    );
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await needed.getByText('Nothing:', { exact: false }).waitFor();
  });
});
