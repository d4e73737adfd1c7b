// A proxy to which a test offers candidates, with clients of its listener.
import { Agent, type Dispatcher, request as send } from 'undici';
import type { CandidateResult } from '../../src/proxy/candidate-controller.ts';
import { createProxy, type Proxy as DataPlane } from '../../src/proxy/proxy.ts';
import { silentLogger } from '../../src/telemetry/logger.ts';
import { systemClock } from '../../src/util/clock.ts';
import { loopbackDataPlane } from './data-plane-settings.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { HandSource, ProxyBed } from './proxy-bed.ts';
import { WorkersInThread } from './workers-in-thread.ts';

export class CandidateBed {
  /** Upstreams, and what is ended with the test. */
  readonly bed = new ProxyBed();
  readonly source = new HandSource();
  /** Results of the candidates that were offered, in order. */
  readonly outcomes: CandidateResult[] = [];
  readonly port: number;
  readonly proxy: DataPlane;
  readonly agent = new Agent();

  private constructor(port: number, workers: number) {
    this.port = port;
    this.proxy = createProxy({
      source: this.source,
      clock: systemClock,
      telemetry: { logger: silentLogger },
      settings: loopbackDataPlane({ workers }),
      threads: workers === 1 ? new WorkersInThread(systemClock) : undefined,
      onCandidate: (outcome) => this.outcomes.push(outcome),
    });
    this.bed.atEnd(() => this.proxy.close({ withinMs: 0 }));
    this.bed.atEnd(() => this.agent.destroy());
  }

  /** On a free port; nothing is published yet. One worker is within the calling thread. */
  static async open(workers: number): Promise<CandidateBed> {
    return new CandidateBed(await freePort(), workers);
  }

  /** Resolves once so many candidates have been installed or refused. */
  async settled(count: number): Promise<void> {
    await eventually(() => {
      if (this.outcomes.length < count) throw new Error(`${this.outcomes.length} outcomes`);
    });
  }

  async ask(path: string, options: Pick<Dispatcher.RequestOptions, 'headers' | 'body'> = {}, port = this.port) {
    const method = options.body === undefined ? 'GET' : 'POST';
    const response = await send(`http://127.0.0.1:${port}${path}`, { dispatcher: this.agent, method, ...options });
    return { status: response.statusCode, text: await response.body.text() };
  }

  async end(): Promise<void> {
    await this.bed.end();
  }
}
