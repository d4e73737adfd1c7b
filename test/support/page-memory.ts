// Memory of a page of Chromium, once its garbage is collected.
import type { CDPSession, Page } from 'playwright-core';

export interface PageMemory {
  /** Bytes in use of JavaScript. */
  readonly heap: number;
  /** Nodes of documents that are held. */
  readonly nodes: number;
  readonly listeners: number;
}

export class PageGauge {
  readonly #session: CDPSession;

  private constructor(session: CDPSession) {
    this.#session = session;
  }

  static async of(page: Page): Promise<PageGauge> {
    const session = await page.context().newCDPSession(page);
    // Work is told as processor time of the page's thread, which a busy machine does not change.
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    return new PageGauge(session);
  }

  /** Processor time of the page's main thread so far, in milliseconds. */
  async workedMs(): Promise<number> {
    return (await this.#metric('TaskDuration')) * 1_000;
  }

  async memory(): Promise<PageMemory> {
    await this.#session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await this.#session.send('Runtime.getHeapUsage');
    return { heap: usedSize, nodes: await this.#metric('Nodes'), listeners: await this.#metric('JSEventListeners') };
  }

  async #metric(name: string): Promise<number> {
    const { metrics } = await this.#session.send('Performance.getMetrics');
    return metrics.find((metric) => metric.name === name)?.value ?? 0;
  }
}
