// The dashboard over very many routes and proxies, and what its page spends. Work is measured as processor time of the page's
// thread, which a busy machine does not change.
import { expect } from 'chai';
import { apiClient } from './api-client.ts';
import type { OpenPage } from './browser.ts';
import { openStage } from './dashboard-story.ts';
import { askHeld, heldLoopsEnv } from './held-loops.ts';
import { PageGauge } from './page-memory.ts';
import type { SluiceProcess } from './sluice-process.ts';

const perBatch = 20_000;

/** Texts that are searched for: of one route, of many, of none, of all. */
const searches = ['service-77777', 'tenant-5/', 'no such route', 'h7.test', ''];

export class LargeDashboard {
  readonly routes: number;
  readonly #sluice: SluiceProcess;
  readonly #opened: OpenPage;
  readonly #gauge: PageGauge;
  readonly #all: AsyncDisposableStack;

  private constructor(
    routes: number,
    sluice: SluiceProcess,
    opened: OpenPage,
    gauge: PageGauge,
    all: AsyncDisposableStack,
  ) {
    this.routes = routes;
    this.#sluice = sluice;
    this.#opened = opened;
    this.#gauge = gauge;
    this.#all = all;
  }

  /** Opens Overview of a node with so many active routes; nothing stays open where that fails. */
  static async open(routes: number): Promise<LargeDashboard> {
    await using all = new AsyncDisposableStack();
    const { browser, sluice } = all.use(await openStage({ more: 'proxy: { workers: 1 }\n', env: heldLoopsEnv }));
    const api = apiClient(sluice.url);
    for (let from = 0; from < routes; from += perBatch) {
      const operations = Array.from({ length: Math.min(perBatch, routes - from) }, (_, at) => ({
        ...{ op: 'create', kind: 'routes' },
        body: routeOf(from + at),
      }));
      const { status, body } = await api.post('/batch', { operations });
      expect(status, JSON.stringify(body).slice(0, 500)).to.equal(200);
    }
    await api.activateAs('all');
    const opened = all.adopt(await browser.open(`${sluice.url}/ui/overview`), (each) => each.close());
    await opened.page.getByText('Active: all', { exact: true }).waitFor();
    const gauge = await PageGauge.of(opened.page);
    return new LargeDashboard(routes, sluice, opened, gauge, all.move());
  }

  close(): Promise<void> {
    return this.#all.disposeAsync();
  }

  /** Longest turns of the loops of the node since the last call, milliseconds of processor time by thread. */
  heldLoops(): Promise<Readonly<Record<string, number>>> {
    return askHeld(this.#sluice);
  }

  /** Milliseconds of work from the link to the first route. */
  firstRoute(): Promise<number> {
    return this.#work(async () => {
      await this.#follow('Routes');
      await this.#waitForCount('Routes', this.routes);
      await this.#table('Routes').getByRole('link').first().waitFor();
    });
  }

  /** Rows of the table of routes that are in the document. */
  rows(): Promise<number> {
    return this.#table('Routes').getByRole('row').count();
  }

  /** Milliseconds of work of each search, from the input to the number of rows. */
  async searches(): Promise<number[]> {
    const search = this.#opened.page.getByRole('searchbox', { name: 'Search routes' });
    const spent: number[] = [];
    for (const text of searches) {
      const count = countOf(text, this.routes);
      spent.push(
        await this.#work(async () => {
          await search.fill(text);
          await this.#waitForCount('Routes', count);
        }),
      );
    }
    return spent;
  }

  /** Bytes in use of JavaScript once garbage is collected. */
  async heap(): Promise<number> {
    return (await this.#gauge.memory()).heap;
  }

  /** Milliseconds of work from the link to the first of so many proxies. The API's answer is made of its own proxy. */
  async firstProxy(proxies: number): Promise<number> {
    const { page } = this.#opened;
    const { body: fleet } = await apiClient(this.#sluice.url).get<{ proxies: object[] }>('/fleet');
    const many = Array.from({ length: proxies }, (_, at) => ({
      ...fleet.proxies[0],
      id: `proxy-${at}`,
      embedded: false,
    }));
    await page.route('**/api/v1/fleet', (route) => route.fulfill({ json: { ...fleet, proxies: many } }));
    return await this.#work(async () => {
      await this.#follow('Fleet');
      await this.#waitForCount('Proxies', proxies);
      await this.#table('Proxies').getByRole('cell', { name: 'proxy-0', exact: true }).waitFor();
    });
  }

  async #work(act: () => Promise<void>): Promise<number> {
    const before = await this.#gauge.workedMs();
    await act();
    return (await this.#gauge.workedMs()) - before;
  }

  readonly #follow = (name: string): Promise<void> =>
    this.#opened.page.getByRole('link', { name, exact: true }).click();

  readonly #table = (name: string) => this.#opened.page.getByRole('table', { name, exact: true });

  readonly #waitForCount = (name: string, count: number): Promise<void> =>
    this.#opened.page.locator(`[role=table][aria-label="${name}"][aria-rowcount="${count}"]`).waitFor();
}

const routeOf = (number: number) => ({
  ...{ id: `r${number}`, name: `route ${number}` },
  match: { pathPrefix: `/tenant-${number % 1_000}/service-${number}`, hostnames: [`h${number % 50}.test`] },
  directResponse: { status: 204 },
});

/** Counts the routes that a search finds. */
function countOf(text: string, routes: number): number {
  let count = 0;
  for (let number = 0; number < routes; number++) {
    const { name, match } = routeOf(number);
    if (`${name}\n${match.pathPrefix}\n${match.hostnames[0]}`.includes(text)) count++;
  }
  return count;
}
