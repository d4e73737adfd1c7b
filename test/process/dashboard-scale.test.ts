// The dashboard over 100,000 routes and 10,000 proxies. Work is measured as processor time of the page's thread, which a busy
// machine does not change.
import { expect } from 'chai';
import type { CDPSession } from 'playwright-core';
import { apiClient } from '../support/api-client.ts';
import { browserPath, type OpenPage, TestBrowser } from '../support/browser.ts';
import { needs } from '../support/needs.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';

const routes = 100_000;
const perBatch = 20_000;
const proxies = 10_000;

describe('the dashboard over many resources', () => {
  let browser: TestBrowser;
  let sluice: SluiceProcess;
  let opened: OpenPage;
  let session: CDPSession;

  before(async function () {
    needs(this, browserPath);
    [browser, sluice] = await Promise.all([TestBrowser.start(), startSluice({ more: 'proxy: { workers: 1 }\n' })]);
    const api = apiClient(sluice.url);
    for (let from = 0; from < routes; from += perBatch) {
      const operations = Array.from({ length: perBatch }, (_, at) => {
        const number = from + at;
        const match = {
          pathPrefix: `/tenant-${number % 1_000}/service-${number}`,
          hostnames: [`h${number % 50}.test`],
        };
        const body = { id: `r${number}`, name: `route ${number}`, match, directResponse: { status: 204 } };
        return { op: 'create', kind: 'routes', body };
      });
      const { status, body } = await api.post('/batch', { operations });
      expect(status, JSON.stringify(body).slice(0, 500)).to.equal(200);
    }
    await api.activateAs('all');
    opened = await browser.open(`${sluice.url}/ui/overview`);
    session = await opened.page.context().newCDPSession(opened.page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  });
  after(async () => {
    await opened?.close();
    await browser?.stop();
    await sluice?.stop();
  });

  /** Processor time of the page's main thread so far, in milliseconds. */
  async function workedMs(): Promise<number> {
    const { metrics } = await session.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000;
  }

  const table = (name: string) => opened.page.getByRole('table', { name, exact: true });

  async function waitForCount(name: string, count: number): Promise<void> {
    await opened.page.locator(`[role=table][aria-label="${name}"][aria-rowcount="${count}"]`).waitFor();
  }

  it('shows the first of 100,000 routes within a second of work, and keeps few rows in the document', async () => {
    await opened.page.getByText('Active: all', { exact: true }).waitFor();
    const before = await workedMs();
    await opened.page.getByRole('link', { name: 'Routes', exact: true }).click();
    await waitForCount('Routes', routes);
    await table('Routes').getByRole('link').first().waitFor();
    const spent = (await workedMs()) - before;
    console.log(`      first row: ${Math.round(spent)} ms`);
    expect(spent).to.be.below(1_000);
    expect(await table('Routes').getByRole('row').count()).to.be.below(100);
  });

  it('searches them within 100 ms of work, from the input to the number of rows', async () => {
    const search = opened.page.getByRole('searchbox', { name: 'Search routes' });
    const spent: number[] = [];
    for (const [text, count] of [
      ['service-77777', 1],
      ['tenant-5/', 100],
      ['no such route', 0],
      ['h7.test', 2_000],
      ['', routes],
    ] as const) {
      const before = await workedMs();
      await search.fill(text);
      await waitForCount('Routes', count);
      spent.push((await workedMs()) - before);
    }
    console.log(`      searches: ${spent.map(Math.round).join(', ')} ms`);
    for (const each of spent) expect(each).to.be.below(100);
  });

  it('takes at most 200 MB for them', async () => {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    console.log(`      heap: ${Math.round(usedSize / 1e6)} MB`);
    expect(usedSize).to.be.below(200e6);
  });

  it('shows 10,000 proxies within a second of work', async () => {
    const { body: fleet } = await apiClient(sluice.url).get<{ proxies: object[] }>('/fleet');
    const many = Array.from({ length: proxies }, (_, at) => ({
      ...fleet.proxies[0],
      id: `proxy-${at}`,
      embedded: false,
    }));
    await opened.page.route('**/api/v1/fleet', (route) => route.fulfill({ json: { ...fleet, proxies: many } }));
    const before = await workedMs();
    await opened.page.getByRole('link', { name: 'Fleet', exact: true }).click();
    await waitForCount('Proxies', proxies);
    await table('Proxies').getByRole('cell', { name: 'proxy-0', exact: true }).waitFor();
    const spent = (await workedMs()) - before;
    console.log(`      first proxy: ${Math.round(spent)} ms`);
    expect(spent).to.be.below(1_000);
  });
});
