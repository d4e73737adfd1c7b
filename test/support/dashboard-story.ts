// Hooks of the stories of the dashboard: a real Chromium and a real Sluice with one listener, for all tests of a suite.
import { after, afterEach, before } from 'mocha';
import type { BrowserContextOptions } from 'playwright-core';
import { type ApiClient, apiClient } from './api-client.ts';
import { browserPath, type OpenPage, TestBrowser } from './browser.ts';
import { freePort } from './free-port.ts';
import { call } from './http-call.ts';
import { needs } from './needs.ts';
import { type SluiceOptions, type SluiceProcess, startSluice } from './sluice-process.ts';

export interface DashboardStory {
  readonly sluice: SluiceProcess;
  readonly api: ApiClient;
  /** Port of the listener `web`. */
  readonly port: number;
  /** Opens a page by its path below `/ui/`; it is closed behind the test, which fails when the page complained. */
  visit(path: string, options?: BrowserContextOptions): Promise<OpenPage>;
  /** Status of a request to the listener. */
  statusOf(path: string, headers?: Record<string, string>): Promise<number>;
}

/** Browser and node, which end together, also where one of the two does not start. */
export interface Stage extends AsyncDisposable {
  readonly browser: TestBrowser;
  readonly sluice: SluiceProcess;
}

export async function openStage(options: SluiceOptions = { more: 'proxy: { workers: 1 }\n' }): Promise<Stage> {
  await using opened = new AsyncDisposableStack();
  const browser = opened.adopt(await TestBrowser.start(), (each) => each.stop());
  const sluice = opened.adopt(await startSluice(options), async (each) => void (await each.stop()));
  const all = opened.move();
  return { browser, sluice, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** @param prepare makes what the stories begin with; the listener is there. */
export function dashboardStory(
  prepare: (api: ApiClient, story: DashboardStory) => Promise<unknown>,
  options?: SluiceOptions,
): DashboardStory {
  let stage: Stage | undefined;
  let port = 0;
  const open: OpenPage[] = [];
  const here = (): Stage => {
    if (stage === undefined) throw new Error('no story before its hooks');
    return stage;
  };
  const story: DashboardStory = {
    get sluice() {
      return here().sluice;
    },
    get api() {
      return apiClient(here().sluice.url);
    },
    get port() {
      return port;
    },
    async visit(path, context = {}) {
      const opened = await here().browser.open(`${here().sluice.url}/ui/${path}`, context);
      open.push(opened);
      return opened;
    },
    statusOf: async (path, headers = {}) => (await call(`http://127.0.0.1:${port}`, 'GET', path, { headers })).status,
  };
  before(async function () {
    needs(this, browserPath);
    port = await freePort();
    stage = await openStage(options);
    await story.api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port });
    await prepare(story.api, story);
  });
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });
  after(() => stage?.[Symbol.asyncDispose]());
  return story;
}
