// Chromium as a test drives it. An error in the console, an exception and a violated policy fail the page's test; answers
// that a story provokes are named by their status beforehand.

import axe from 'axe-core';
import { expect } from 'chai';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

export const browserPath = '/usr/bin/chromium';

const quietly = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic', '--no-first-run'];
/** Waiting for an element on a busy machine. */
const patienceMs = 120_000;

export interface OpenPage {
  readonly page: Page;
  /** Origins that the page has asked. */
  readonly origins: ReadonlySet<string>;
  /** Bytes of bodies below `/ui/` as they went over the wire. */
  readonly uiBytes: () => number;
  /** Statuses that failed requests of this page may have. */
  readonly expected: Set<number>;
  /** Fails when the page complained, and closes it. */
  close(): Promise<void>;
}

export class TestBrowser {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<TestBrowser> {
    return new TestBrowser(await chromium.launch({ executablePath: browserPath, args: quietly, timeout: 120_000 }));
  }

  stop(): Promise<void> {
    return this.#browser.close();
  }

  async open(url: string, options: BrowserContextOptions = {}): Promise<OpenPage> {
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    context.setDefaultTimeout(patienceMs);
    const page = await context.newPage();
    const complaints: string[] = [];
    const origins = new Set<string>();
    const expected = new Set<number>();
    let uiBytes = 0;
    page.on('console', (message) => {
      if (message.type() !== 'error') return;
      const [, status] = /status of (\d+)/.exec(message.text()) ?? [];
      const isLost = expected.has(0) && /ERR_(CONNECTION|EMPTY|INCOMPLETE|SOCKET)/.test(message.text());
      if (isLost || (status !== undefined && expected.has(Number(status)))) return;
      complaints.push(`${message.text()} ${message.location().url}`);
    });
    page.on('pageerror', (error) => complaints.push(error.stack ?? error.message));
    page.on('request', (request) => {
      if (/^https?:/.test(request.url())) origins.add(new URL(request.url()).origin);
    });
    page.on('response', (response) => {
      if (!new URL(response.url()).pathname.includes('/ui/')) return;
      uiBytes += Number(response.headers()['content-length'] ?? 0);
    });
    await page.goto(url);
    return {
      page,
      origins,
      expected,
      uiBytes: () => uiBytes,
      async close() {
        await context.close();
        expect(complaints).to.deep.equal([]);
      },
    };
  }
}

/** Returns the findings of axe in a page. */
export async function findingsOf(page: Page, about: string): Promise<string[]> {
  // Evaluated by the debugger, so that the policy of the page stays as it is.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{ violations: Finding[] }>('axe.run()');
  return violations.map(
    ({ id, nodes }) =>
      `${about}: ${id}: ${nodes
        .map(({ html }) => html)
        .join(' | ')
        .slice(0, 600)}`,
  );
}

interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}
