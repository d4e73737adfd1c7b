// Clients with names that ask again and again and remember who answered them: for a candidate that serves some of them.
import { Agent, get } from 'node:http';

export interface Visit {
  /** performance.now() at its beginning and its end. */
  readonly fromMs: number;
  readonly atMs: number;
  readonly visitor: string;
  /** URL of the proxy that was asked. */
  readonly url: string;
  readonly status: number;
  /** Body, or why there was no answer. */
  readonly said: string;
}

export class Visitors {
  readonly visits: Visit[] = [];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 32 });
  readonly #urls: readonly string[];
  readonly #ended: Promise<unknown>;
  #active = true;

  /** Starts `count` visitors, which ask the proxies in turn and rest in between. */
  constructor(urls: readonly string[], count: number, restMs = 20) {
    this.#urls = urls;
    this.#ended = Promise.all(Array.from({ length: count }, (_, n) => this.#walk(`visitor-${n}`, n, restMs)));
  }

  /** Returns the visits since a time of performance.now(). */
  since(atMs: number): readonly Visit[] {
    return this.visits.filter((visit) => visit.atMs >= atMs);
  }

  async stop(): Promise<void> {
    this.#active = false;
    await this.#ended;
    this.#agent.destroy();
  }

  async #walk(visitor: string, first: number, restMs: number): Promise<void> {
    for (let n = first; this.#active; n++) {
      const url = this.#urls[n % this.#urls.length] ?? '';
      const fromMs = performance.now();
      const [status, said] = await this.#ask(url, visitor);
      this.visits.push({ fromMs, atMs: performance.now(), visitor, url, status, said });
      await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  }

  #ask(url: string, visitor: string): Promise<[number, string]> {
    return new Promise((resolve) => {
      const request = get(url, { agent: this.#agent, headers: { 'x-user': visitor }, timeout: 120_000 }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          body += chunk;
        });
        response.on('end', () => resolve([response.statusCode ?? 0, body]));
        response.on('error', (error) => resolve([0, error.message]));
      });
      request.on('error', (error) => resolve([0, error.message]));
      request.on('timeout', () => request.destroy(new Error('no answer in 120 s')));
    });
  }
}
