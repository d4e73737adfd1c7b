// Stories of the dashboard: a real Chromium, a real Sluice. Elements are found as a person finds them, by name.
import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { pages } from '../../ui/lib/pages.ts';
import { apiClient } from '../support/api-client.ts';
import { browserPath, findingsOf, type OpenPage, TestBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { needs } from '../support/needs.ts';
import { newFolder, type SluiceProcess, startSluice } from '../support/sluice-process.ts';

const workers = 'proxy: { workers: 1 }\n';
const answers = (status: number) => ({ directResponse: { status, body: 'here' } });

describe('the dashboard in a browser', () => {
  let browser: TestBrowser;
  let sluice: SluiceProcess;
  let port: number;
  let upstream: Server;
  const open: OpenPage[] = [];

  before(async function () {
    needs(this, browserPath);
    [browser, sluice, port] = await Promise.all([TestBrowser.start(), startSluice({ more: workers }), freePort()]);
    upstream = createServer((request, response) => {
      response.statusCode = request.url === '/fail' ? 500 : 200;
      // Slow enough for its phases to be seen in a picture.
      setTimeout(() => response.end('from upstream'), request.url === '/shop/cart' ? 40 : 0);
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });
  after(async () => {
    await browser?.stop();
    await sluice?.stop();
    upstream?.close();
  });

  async function visit(path: string, options = {}, at: SluiceProcess = sluice): Promise<OpenPage> {
    const opened = await browser.open(`${at.url}/ui/${path}`, options);
    open.push(opened);
    return opened;
  }

  const heading = (page: OpenPage['page'], name: string) => page.getByRole('heading', { level: 1, name, exact: true });

  it('makes the first route from nothing, and shows it as staged', async () => {
    const { page } = await visit('routes');
    await page.getByRole('button', { name: 'New route' }).click();
    await page.getByRole('textbox', { name: 'name', exact: true }).fill('first');
    await page.getByRole('button', { name: 'Add match' }).click();
    await page.getByRole('textbox', { name: 'path', exact: true }).fill('/first');
    await page.getByRole('button', { name: 'Add directResponse' }).click();
    await page.getByRole('textbox', { name: 'status', exact: true }).fill('200');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Staged: 1 change', { exact: true }).waitFor();
    await page.getByText('path is /first').waitFor();
    const { body } = await apiClient(sluice.url).get<{ name: string; match: object }[]>('/routes');
    expect(body.map(({ name, match }) => ({ name, match }))).to.deep.equal([
      { name: 'first', match: { path: '/first' } },
    ]);
  });

  it('shows the fault of a broken edit at its field and in an alert, and keeps what was typed', async () => {
    const { page, expected } = await visit('listeners');
    expected.add(400);
    await page.getByRole('button', { name: 'New listener' }).click();
    await page.getByRole('textbox', { name: 'name', exact: true }).fill('web');
    const field = page.getByRole('textbox', { name: 'port', exact: true });
    await field.fill('70000');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').filter({ hasText: '/port' }).waitFor();
    expect(await field.getAttribute('aria-invalid')).to.equal('true');
    const described = await field.getAttribute('aria-describedby');
    expect(await page.locator(`[id="${described}"]`).textContent()).to.match(/65535/);
    expect(await field.inputValue()).to.equal('70000');
    await field.fill(String(port));
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 2, name: 'web' }).waitFor();
  });

  it('edits the same resource as YAML, and names what cannot be read', async () => {
    const { page } = await visit('listeners');
    await page.getByRole('link', { name: 'web' }).click();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('tab', { name: 'YAML' }).click();
    const yaml = page.getByRole('textbox', { name: 'YAML' });
    const text = await yaml.inputValue();
    expect(text).to.contain('name: web');
    await yaml.fill('name: [web');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').filter({ hasText: 'YAML' }).waitFor();
    await yaml.fill(`${text.trim()}\naddress: 127.0.0.1\n`.replace(/address: 0\.0\.0\.0\n/, ''));
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(`127.0.0.1:${port}`).first().waitFor();
  });

  it('keeps routes of connections on the page of routes', async () => {
    const { page } = await visit('routes');
    await page.getByRole('link', { name: 'Of connections' }).click();
    await page.getByRole('button', { name: 'New stream route' }).click();
    await page.getByRole('textbox', { name: 'name', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('status').filter({ hasText: '0 stream routes' }).waitFor();
  });

  it('makes a consumer, and shows its key no more', async () => {
    const { page } = await visit('consumers');
    await page.getByRole('button', { name: 'New consumer' }).click();
    await page.getByRole('tab', { name: 'YAML' }).click();
    const yaml = page.getByRole('textbox', { name: 'YAML' });
    await yaml.fill('name: app\ncredentials:\n  - type: apiKey\n    key: CANARY-key\n');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 2, name: 'app' }).waitFor();
    await (await visit('consumers')).page.getByText('apiKey', { exact: true }).first().waitFor();
    expect(await page.content()).to.not.include('CANARY');
    const api = apiClient(sluice.url);
    const { body } = await api.get<{ id: string }[]>('/consumers');
    for (const { id } of body) await api.delete(`/consumers/${id}`);
  });

  it('captures and activates, and the route answers', async () => {
    const { page } = await visit('staged');
    await page.getByRole('textbox', { name: 'Snapshot name' }).fill('v1');
    await page.getByRole('button', { name: 'Capture and activate' }).click();
    await page.getByText('Active: v1', { exact: true }).waitFor();
    await page.getByText('Staged: 0 changes', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Undo' }).count()).to.equal(0);
    await eventually(async () => expect((await fetch(`http://127.0.0.1:${port}/first`)).status).to.equal(200));
  });

  it('shows fields that differ, discards one change, and undoes an activation by a held button', async () => {
    const api = apiClient(sluice.url);
    const { page } = await visit('staged');
    await api.create('routes', { name: 'second', match: { path: '/second' }, ...answers(201) });
    await api.create('routes', { name: 'unwanted', match: { path: '/unwanted' }, ...answers(201) });
    await page.getByText('Staged: 2 changes', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Discard unwanted' }).click();
    await page.getByText('Staged: 1 change', { exact: true }).waitFor();
    await page.getByRole('textbox', { name: 'Snapshot name' }).fill('v2');
    await page.getByRole('button', { name: 'Capture and activate' }).click();
    await page.getByText('Active: v2', { exact: true }).waitFor();
    const undo = page.getByRole('button', { name: 'Undo', exact: true });
    await undo.focus();
    await page.keyboard.down('Enter');
    await page.getByText('Active: v1', { exact: true }).waitFor();
    await page.keyboard.up('Enter');
    const { body } = await api.get<{ reason: string }[]>('/activations?limit=1');
    expect(body[0]?.reason).to.equal('rollback');
  });

  it('undoes from every page by a key and a confirmation', async () => {
    const { page } = await visit('cluster');
    await heading(page, 'Cluster').waitFor();
    await page.getByRole('button', { name: 'Undo', exact: true }).waitFor();
    await page.keyboard.press('u');
    await page.getByRole('dialog', { name: 'Undo' }).waitFor();
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('Active: v2', { exact: true }).waitFor();
  });

  it('explains a request in what is active and what is staged', async () => {
    const api = apiClient(sluice.url);
    const id = await api.create('routes', { name: 'third', match: { path: '/third' }, ...answers(203) });
    const { page } = await visit('explain');
    await page.getByRole('textbox', { name: 'URL' }).fill('http://shop.test/third');
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    await page.getByRole('region', { name: 'Active' }).getByText('no route').waitFor();
    await page.getByRole('region', { name: 'Staged' }).getByRole('link', { name: 'third' }).waitFor();
    await page.getByRole('link', { name: 'Routes', exact: true }).click();
    await page.getByRole('textbox', { name: 'Which route takes this URL?' }).fill('http://shop.test/third');
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'third takes it' }).waitFor();
    await api.delete(`/routes/${id}`);
  });

  it('follows requests, filters them by an expression with its fault, pauses, and explains one', async () => {
    const { page, expected } = await visit('requests');
    const rows = page.getByRole('table', { name: 'Requests' }).getByRole('cell');
    await fetch(`http://127.0.0.1:${port}/first`);
    await rows
      .getByRole('button', { name: /GET .*\/first/ })
      .first()
      .waitFor();
    expected.add(400);
    await page.getByRole('textbox', { name: 'Filter' }).fill('status >');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('alert').filter({ hasText: 'where' }).waitFor();
    await page.getByRole('textbox', { name: 'Filter' }).fill('status == 404');
    await page.getByRole('button', { name: 'Apply' }).click();
    await fetch(`http://127.0.0.1:${port}/nowhere`);
    await rows
      .getByRole('button', { name: /nowhere/ })
      .first()
      .waitFor();
    expect(await rows.getByRole('button', { name: /first/ }).count()).to.equal(0);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await rows
      .getByRole('button', { name: /nowhere/ })
      .first()
      .click();
    await page.getByRole('button', { name: 'Copy as curl' }).waitFor();
    const phases = page.getByRole('table', { name: 'Phases' }).getByRole('row');
    expect((await phases.allTextContents()).join()).to.match(/Sluice.*Connection.*First byte.*Transfer.*Total\d/);
    await page.getByRole('button', { name: 'Explain now' }).click();
    await heading(page, 'Explain').waitFor();
    expect(await page.getByRole('textbox', { name: 'URL' }).inputValue()).to.contain('/nowhere');
    await page.getByRole('region', { name: 'Active' }).getByText('no route').waitFor();
  });

  it('shows traffic and last hit of a route, and drains an endpoint', async () => {
    const api = apiClient(sluice.url);
    const { port: upstreamPort } = upstream.address() as AddressInfo;
    const destination = await api.create('destinations', { name: 'shop', host: '127.0.0.1', port: upstreamPort });
    const forward = { destinations: [{ destinationId: destination, weight: 1 }] };
    await api.create('routes', { name: 'shop', match: { pathPrefix: '/shop' }, forward });
    await api.activateAs('v3');
    await eventually(async () => expect((await fetch(`http://127.0.0.1:${port}/shop`)).status).to.equal(200));
    const { page } = await visit('routes');
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'shop', exact: true }) });
    await row.getByText(/now|\d+ s ago/).waitFor();
    await page.getByRole('link', { name: 'Destinations', exact: true }).click();
    await page.getByRole('table', { name: 'Destinations' }).getByRole('link', { name: 'shop' }).click();
    const endpoint = `127.0.0.1:${upstreamPort}`;
    await page.getByRole('button', { name: `Drain ${endpoint}`, exact: true }).click();
    await page.getByRole('button', { name: `Undo drain of ${endpoint}` }).waitFor();
    await eventually(async () => expect((await fetch(`http://127.0.0.1:${port}/shop`)).status).to.equal(502));
    await page.getByRole('button', { name: `Undo drain of ${endpoint}` }).click();
    await page.getByRole('button', { name: `Drain ${endpoint}`, exact: true }).waitFor();
    await eventually(async () => expect((await fetch(`http://127.0.0.1:${port}/shop`)).status).to.equal(200));
  });

  it('shows a rollout that a guard rolls back, with the guard and what it saw', async () => {
    const api = apiClient(sluice.url);
    const [route] = (await api.get<{ id: string; name: string }[]>('/routes')).body.filter(
      ({ name }) => name === 'first',
    );
    await api.put(`/routes/${route?.id}`, { name: 'first', match: { path: '/first' }, ...answers(500) });
    const snapshot = await api.create('snapshots', { name: 'broken' });
    const { page } = await visit('rollout');
    const guards = ['candidate.errorRate <= 0.1'];
    const steps = [{ share: 50, hold: '1m' }];
    await api.post(`/snapshots/${snapshot}/rollout`, {
      steps,
      guards,
      minRequests: 1,
      checkInterval: '100ms',
      key: { header: 'x-client' },
    });
    await page.getByRole('status', { name: 'Rollout state' }).filter({ hasText: 'running' }).waitFor();
    await page.getByRole('table', { name: 'Stable beside candidate' }).waitFor();
    const state = page.getByRole('status', { name: 'Rollout state' }).filter({ hasText: 'rolled back' });
    for (let client = 0; (await state.count()) === 0; client++)
      await fetch(`http://127.0.0.1:${port}/first`, { headers: { 'x-client': String(client) } });
    await page.getByRole('alert').filter({ hasText: 'candidate.errorRate <= 0.1' }).waitFor();
    await api.put(`/routes/${route?.id}`, { name: 'first', match: { path: '/first' }, ...answers(200) });
  });

  it('shows what a shadow step compared, with the requests that a candidate would lose', async () => {
    const api = apiClient(sluice.url);
    const [route] = (await api.get<{ id: string; name: string }[]>('/routes')).body.filter(
      ({ name }) => name === 'first',
    );
    await api.put(`/routes/${route?.id}`, { name: 'first', match: { path: '/elsewhere' }, ...answers(200) });
    const snapshot = await api.create('snapshots', { name: 'losing' });
    const { page } = await visit('rollout');
    const steps = [{ shadow: true, hold: '1m' }];
    await api.post(`/snapshots/${snapshot}/rollout`, { steps, minRequests: 1, checkInterval: '100ms' });
    await page.getByRole('listitem').filter({ hasText: 'compare only' }).waitFor();
    const state = page.getByRole('status', { name: 'Rollout state' }).filter({ hasText: 'rolled back' });
    while ((await state.count()) === 0)
      expect((await fetch(`http://127.0.0.1:${port}/first?key=secret`)).status).to.equal(200);
    await page.getByRole('alert').filter({ hasText: 'shadow.lost == 0.0' }).waitFor();
    const lost = page.getByRole('table', { name: /^Examples: Lost/ });
    await lost.getByRole('row').filter({ hasText: '/first' }).filter({ hasText: 'key' }).first().waitFor();
    expect(await lost.textContent()).to.not.contain('secret');
    await page.getByRole('table', { name: 'Compared requests' }).waitFor();
    await api.put(`/routes/${route?.id}`, { name: 'first', match: { path: '/first' }, ...answers(200) });
  });

  it('keeps what was typed when another edit came first, and shows the fields that differ', async () => {
    const api = apiClient(sluice.url);
    const id = await api.create('routes', { name: 'shared', match: { path: '/shared' }, ...answers(200) });
    const { page, expected } = await visit(`routes?edit=${id}`);
    const field = page.getByRole('textbox', { name: 'path', exact: true });
    await field.fill('/mine');
    await api.put(`/routes/${id}`, { name: 'shared', match: { path: '/theirs' }, ...answers(200) });
    await page.getByRole('status').filter({ hasText: 'changed meanwhile' }).waitFor();
    // In the end the page may be reading the route as it is deleted.
    expected.add(412).add(404);
    await page.getByRole('button', { name: 'Save' }).click();
    const difference = page.getByRole('region', { name: 'Fields that differ' });
    await difference.getByText('/match/path').waitFor();
    await difference.getByText('/theirs').waitFor();
    expect(await field.inputValue()).to.equal('/mine');
    await difference.getByRole('button', { name: 'Keep mine' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('path is /mine').waitFor();
    await api.delete(`/routes/${id}`);
  });

  it('works by the keyboard alone', async () => {
    const { page } = await visit('');
    await heading(page, 'Overview').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).to.equal('content');
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await heading(page, 'Routes').waitFor();
    const search = page.getByRole('searchbox', { name: 'Search routes' });
    await search.waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('shop');
    await eventually(async () => expect(await search.inputValue()).to.equal('shop'));
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('fits a phone, with the navigation behind a menu', async () => {
    const { page } = await visit('routes', { viewport: { width: 360, height: 640 } });
    await page.getByRole('button', { name: 'New route' }).waitFor();
    const wider = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    expect(wider).to.be.at.most(0);
    expect(await page.getByRole('navigation', { name: 'Main' }).isVisible()).to.equal(false);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Fleet', exact: true }).click();
    await heading(page, 'Fleet').waitFor();
  });

  for (const scheme of ['light', 'dark'] as const) {
    it(`has nothing that axe finds wrong on any page, ${scheme}`, async () => {
      const { page } = await visit('', { colorScheme: scheme });
      const findings: string[] = [];
      for (const { slug, title } of pages) {
        await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: title, exact: true }).click();
        await heading(page, title).waitFor();
        await page.getByText('Loading …').waitFor({ state: 'detached' });
        findings.push(...(await findingsOf(page, slug)));
      }
      await page.goto(`${sluice.url}/ui/routes?edit=`);
      await page.getByRole('button', { name: 'Save' }).waitFor();
      findings.push(...(await findingsOf(page, 'editor')));
      expect(findings).to.deep.equal([]);
    });
  }

  it('loads at most 60 KB, and asks its own origin alone', async () => {
    const { page, uiBytes, origins } = await visit('');
    await heading(page, 'Overview').waitFor();
    await page.getByText('Needs attention').waitFor();
    expect(uiBytes()).to.be.within(10_000, 60 * 1024);
    expect([...origins]).to.deep.equal([sluice.url]);
  });

  it('works behind a path prefix of Sluice itself', async () => {
    const api = apiClient(sluice.url);
    const { port: apiPort } = new URL(sluice.url);
    const destination = await api.create('destinations', { name: 'api', host: '127.0.0.1', port: Number(apiPort) });
    await api.create('routes', {
      name: 'ops',
      match: { pathPrefix: '/ops/' },
      forward: { destinations: [{ destinationId: destination, weight: 1 }], rewrite: { path: '/' } },
    });
    await api.activateAs('v4');
    await eventually(async () => expect((await fetch(`http://127.0.0.1:${port}/ops/api/v1`)).status).to.equal(200));
    const opened = await browser.open(`http://127.0.0.1:${port}/ops/ui/`);
    open.push(opened);
    await opened.page.getByText('Active: v4', { exact: true }).waitFor();
    await opened.page.getByRole('link', { name: 'Fleet', exact: true }).click();
    await opened.page.getByText(/1 current/).waitFor();
    expect(new URL(opened.page.url()).pathname).to.equal('/ops/ui/fleet');
    await opened.page.reload();
    await heading(opened.page, 'Fleet').waitFor();
  });

  it('shows markup, directions, emoji and very long names as text, in every kind', async () => {
    const api = apiClient(sluice.url);
    const names = [
      '<img src=x onerror=alert(1)>',
      '"><script>document.title="broken"</script>',
      'javascript:alert(1)',
      '{{constructor.constructor("alert(1)")()}}',
      '\u202egnol\u202c مرحبا',
      '🦊'.repeat(20),
      'раураl',
      'x'.repeat(10_000),
    ];
    const bodies = (name: string): readonly (readonly [string, object])[] => [
      ['routes', { name, match: { pathPrefix: '/', headers: [{ name: 'x-a', value: name }] }, ...answers(200) }],
      ['destinations', { name, host: 'shop.test', port: 80 }],
      ['middlewares', { name, type: 'headers', headers: { requestHeadersToAdd: [{ key: 'x-a', value: 'y' }] } }],
      ['groups', { name, routeIds: [] }],
      ['listeners', { name, port: 1 }],
      ['secrets', { name, value: name }],
    ];
    const operations = names.flatMap((name) => bodies(name).map(([kind, body]) => ({ op: 'create', kind, body })));
    const { status, body } = await api.post('/batch', { operations });
    expect(status, JSON.stringify(body)).to.equal(200);
    const { page } = await visit('');
    for (const { title, slug } of pages) {
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: title, exact: true }).click();
      await heading(page, title).waitFor();
      await page.getByText('Loading …').waitFor({ state: 'detached' });
      expect(await page.evaluate('document.title'), slug).to.equal(`${title} · Sluice`);
      expect(await page.locator('main img, main script').count(), slug).to.equal(0);
    }
    await page.getByRole('link', { name: 'Groups', exact: true }).click();
    for (const name of names.slice(0, 4)) await page.getByRole('link', { name, exact: true }).waitFor();
    await page.getByRole('link', { name: names[0] ?? '', exact: true }).click();
    await page.getByRole('heading', { level: 2, name: names[0] ?? '', exact: true }).waitFor();
    await page.goto(`${sluice.url}/ui/staged`);
    await page.getByRole('button', { name: 'Discard all' }).click();
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('Staged: 0 changes', { exact: true }).waitFor();
  });

  describe('with keys', () => {
    const keys = { admin: 'a'.repeat(24), viewer: 'v'.repeat(24) };
    let guarded: SluiceProcess;

    before(async function () {
      needs(this, browserPath);
      const list = Object.entries(keys).map(
        ([role, key]) => `      - { name: ${role}, key: "${key}", role: ${role} }\n`,
      );
      guarded = await startSluice({ controlPlane: `  auth:\n    apiKeys:\n${list.join('')}`, more: workers });
    });
    after(() => guarded?.stop());

    async function signIn({ page }: OpenPage, key: string, keep = false): Promise<void> {
      await page.getByLabel('API key').fill(key);
      if (keep) await page.getByLabel('Keep until this tab is closed').check();
      await page.getByRole('button', { name: 'Sign in' }).click();
    }

    it('says that a key is wrong, and goes on with a right one; the key stands in no address', async () => {
      const opened = await visit('routes', {}, guarded);
      opened.expected.add(401);
      await signIn(opened, 'wrong');
      await opened.page.getByRole('alert').filter({ hasText: 'not known' }).waitFor();
      await signIn(opened, keys.admin);
      await opened.page.getByText('Role: admin', { exact: true }).waitFor();
      expect(opened.page.url()).not.to.contain(keys.admin);
      expect(await opened.page.evaluate('[document.cookie, sessionStorage.length, localStorage.length]')).to.deep.equal(
        ['', 0, 0],
      );
      await opened.page.reload();
      await opened.page.getByLabel('API key').waitFor();
      await signIn(opened, keys.admin, true);
      await opened.page.getByText('Role: admin', { exact: true }).waitFor();
      await opened.page.reload();
      await opened.page.getByText('Role: admin', { exact: true }).waitFor();
    });

    it('shows a viewer everything, and what a viewer may not do as disabled, with the reason', async () => {
      const opened = await visit('routes', {}, guarded);
      opened.expected.add(401);
      await signIn(opened, keys.viewer);
      const button = opened.page.getByRole('button', { name: 'New route' });
      await opened.page.getByText('Role: viewer', { exact: true }).waitFor();
      await eventually(async () => expect(await button.isDisabled()).to.equal(true));
      expect(await button.getAttribute('title')).to.match(/viewer/);
      await opened.page.getByRole('link', { name: 'Log levels', exact: true }).click();
      expect(await opened.page.getByLabel('proxy').isDisabled()).to.equal(true);
    });
  });

  it('says that the connection is lost, and is current again when it is back', async () => {
    const folder = newFolder();
    const apiPort = await freePort();
    let node = await startSluice({ folder, port: apiPort, more: workers });
    try {
      const { page, expected } = await visit('routes', {}, node);
      await page.getByRole('status').filter({ hasText: '0 rows' }).waitFor();
      expected.add(0).add(503);
      await node.stop('SIGKILL');
      await page.getByText('Connection lost', { exact: true }).waitFor();
      node = await startSluice({ folder, port: apiPort, more: workers });
      await apiClient(node.url).create('routes', { name: 'late', ...answers(200) });
      await page.getByText('Connection lost', { exact: true }).waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'late' }).waitFor();
    } finally {
      await node.stop();
    }
  });

  it('draws six pages for the documentation', async () => {
    const folder = process.env.SLUICE_SCREENSHOTS ?? newFolder();
    mkdirSync(folder, { recursive: true });
    const { page } = await visit('', { viewport: { width: 1280, height: 760 } });
    for (let i = 0; i < 30; i++)
      await fetch(`http://127.0.0.1:${port}/${['nowhere', 'first', 'shop', 'shop/cart'][i % 4]}`);
    const api = apiClient(sluice.url);
    const { body: routes } = await api.get<{ id: string; name: string }[]>('/routes');
    const { id, ...first } = routes.find(({ name }) => name === 'first') as { id: string; name: string };
    await api.put(`/routes/${id}`, { ...first, match: { path: '/first', methods: ['GET'] }, ...answers(503) });
    await api.create('routes', { name: 'beta', match: { pathPrefix: '/beta' }, ...answers(200) });
    for (const slug of ['overview', 'topology', 'routes', 'staged', 'requests', 'snapshots']) {
      await page.goto(`${sluice.url}/ui/${slug}`);
      await page.getByText('Active: v4', { exact: true }).waitFor();
      await page.getByText('Staged: 2 changes', { exact: true }).waitFor();
      await page.getByText('Loading …').waitFor({ state: 'detached' });
      if (slug === 'routes')
        await page
          .getByText(/^(now|\d+ s ago)$/)
          .first()
          .waitFor();
      const picture = await page.screenshot({ path: join(folder, `${slug}.png`) });
      expect(picture.length, slug).to.be.above(10_000);
    }
  });
});
