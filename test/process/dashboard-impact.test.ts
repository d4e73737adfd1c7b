// Story of the dashboard: what a staged change does, before it is live. A real Chromium, a real Sluice.
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { browserPath, type OpenPage, TestBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { needs } from '../support/needs.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';

describe('the impact of a staged change in a browser', function () {
  this.timeout(240_000);
  let browser: TestBrowser;
  let sluice: SluiceProcess;
  let opened: OpenPage | undefined;

  const route = (id: string, match: object, priority = 0) =>
    apiClient(sluice.url).create('routes', {
      ...{ id, name: id, match, priority },
      directResponse: { status: 200 },
    });

  before(async function () {
    needs(this, browserPath);
    let port: number;
    [browser, sluice, port] = await Promise.all([
      TestBrowser.start(),
      startSluice({ more: 'proxy: { workers: 1 }\n' }),
      freePort(),
    ]);
    const api = apiClient(sluice.url);
    await api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port });
    await route('all', { pathPrefix: '/' });
    await route('cart', { path: '/cart' });
    await api.activateAs('v1');
    for (const path of ['/cart', '/cart', '/other'])
      await eventually(async () => expect((await call(`http://127.0.0.1:${port}`, 'GET', path)).status).to.equal(200));
    await eventually(async () =>
      expect((await api.get<{ requests: object[] }>('/requests')).body.requests).to.have.lengthOf(3),
    );
    await route('promo', { path: '/cart' }, 1);
  });
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });
  after(async () => {
    await browser?.stop();
    await sluice?.stop();
  });

  it('is on the page Staged: new findings, affected routes, and recent requests on demand', async () => {
    opened = await browser.open(`${sluice.url}/ui/staged`, {});
    const { page } = opened;
    const impact = page.getByRole('region', { name: 'Impact' });
    const finding = impact.getByRole('list', { name: 'New findings' }).getByRole('listitem');
    await finding.getByText('route "cart" serves no request', { exact: false }).waitFor();
    await impact.getByText('1 route affected').waitFor();
    await impact.getByRole('button', { name: 'Replay recent requests' }).click();
    await impact.getByText('3 requests replayed, for 3; 1 the same.', { exact: false }).waitFor();
    const row = impact.getByRole('table', { name: 'Replayed requests' }).getByRole('row').nth(1);
    expect((await row.getByRole('cell').allTextContents()).slice(0, 5)).to.deep.equal([
      'moved',
      'cart',
      'promo',
      '2',
      '2',
    ]);
    await finding.getByRole('link', { name: 'Explain' }).click();
    await page.getByRole('heading', { level: 1, name: 'Explain', exact: true }).waitFor();
  });

  it('is on the page of a route: its findings', async () => {
    opened = await browser.open(`${sluice.url}/ui/routes?id=cart`, {});
    const list = opened.page.getByRole('list', { name: 'Findings' });
    await list.getByText('unreachable-route').waitFor();
    expect(await list.getByRole('listitem').count()).to.equal(1);
  });
});
