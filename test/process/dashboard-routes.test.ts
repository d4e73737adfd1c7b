// Stories of the page of a route. A real Chromium, a real Sluice.
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { browserPath, type OpenPage, TestBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { needs } from '../support/needs.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';

describe('the page of a route in a browser', function () {
  this.timeout(240_000);
  let browser: TestBrowser;
  let sluice: SluiceProcess;
  let port: number;
  let opened: OpenPage | undefined;

  before(async function () {
    needs(this, browserPath);
    [browser, sluice, port] = await Promise.all([
      TestBrowser.start(),
      startSluice({ more: 'proxy: { workers: 2 }\n' }),
      freePort(),
    ]);
    const api = apiClient(sluice.url);
    await api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port });
    await api.create('routes', { id: 'all', name: 'all', match: { pathPrefix: '/' }, directResponse: { status: 204 } });
    await api.create('routes', { id: 'cart', name: 'cart', match: { path: '/cart' }, directResponse: { status: 200 } });
    await api.activateAs('v1');
  });
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });
  after(async () => {
    await browser?.stop();
    await sluice?.stop();
  });

  const visit = async (path: string): Promise<OpenPage['page']> => {
    opened = await browser.open(`${sluice.url}/ui/${path}`);
    return opened.page;
  };
  const statusOf = async (path: string): Promise<number> =>
    (await call(`http://127.0.0.1:${port}`, 'GET', path)).status;

  it('disables a route, which serves nothing from the next activation on, and enables it again', async () => {
    const api = apiClient(sluice.url);
    const page = await visit('routes?id=cart');
    await page.getByRole('button', { name: 'Disable', exact: true }).click();
    await page.getByRole('button', { name: 'Enable', exact: true }).waitFor();
    await page.getByText('Staged: 1 change', { exact: true }).waitFor();
    await eventually(async () => expect(await statusOf('/cart')).to.equal(200));
    await api.activateAs('v2');
    await eventually(async () => expect(await statusOf('/cart')).to.equal(204));
    await page.getByRole('link', { name: 'Routes', exact: true }).click();
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'cart', exact: true }) });
    await row.getByText('disabled', { exact: true }).waitFor();
    await row.getByRole('link', { name: 'cart', exact: true }).click();
    await page.getByRole('button', { name: 'Enable', exact: true }).click();
    await page.getByRole('button', { name: 'Disable', exact: true }).waitFor();
    const { body } = await api.get<object>('/routes/cart');
    expect(body).to.not.have.property('disabled');
    await api.activateAs('v3');
    await eventually(async () => expect(await statusOf('/cart')).to.equal(200));
  });
});
