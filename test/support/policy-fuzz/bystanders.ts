// Clients that do nothing wrong, beside those that do: each request has to get the answer that is its own, in time.
import { Agent, request } from 'node:http';
import { Http2Client } from '../http2-client.ts';

/** An answer that takes longer on a machine with others is late. */
const lateMs = 20_000;

export class Bystanders {
  readonly findings: string[] = [];
  asked = 0;
  slowestMs = 0;
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 2 });
  readonly #running: Promise<void>[];
  #http2: Http2Client;
  #stopped = false;

  constructor(port: number) {
    this.#port = port;
    this.#http2 = new Http2Client(`http://127.0.0.1:${port}`);
    const overHttp1 = (id: string) => this.#overHttp1(id);
    const overHttp2 = (id: string) => this.#overHttp2(id);
    this.#running = [overHttp1, overHttp1, overHttp2].map((ask, client) => this.#run(client, ask));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
    this.#agent.destroy();
    this.#http2.close();
  }

  async #run(client: number, ask: (id: string) => Promise<string>): Promise<void> {
    for (let nth = 0; !this.#stopped; nth++) {
      const id = `by-${client}-${nth}`;
      const startedAt = performance.now();
      const answer = await ask(id).catch((error: Error) => `no answer: ${error.message}`);
      const ms = performance.now() - startedAt;
      this.asked++;
      this.slowestMs = Math.max(this.slowestMs, ms);
      if (answer !== `200 ${id}`) this.findings.push(`another client, ${id}: ${answer}`);
      if (ms > lateMs) this.findings.push(`another client, ${id}: answered after ${Math.round(ms)} ms`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  #overHttp1(id: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { port: this.#port, agent: this.#agent, path: '/open/by', headers: { 'x-id': id } };
      const asked = request(options, (response) => {
        let body = '';
        response.on('data', (chunk) => (body += chunk));
        response.on('end', () => resolve(`${response.statusCode} ${body}`));
        response.on('error', reject);
      });
      asked.setTimeout(2 * lateMs, () => asked.destroy(new Error('silence')));
      asked.on('error', reject).end();
    });
  }

  async #overHttp2(id: string): Promise<string> {
    if (this.#http2.closed) this.#http2 = new Http2Client(`http://127.0.0.1:${this.#port}`);
    const { status, body } = await this.#http2.ask({ ':path': '/open/by', 'x-id': id });
    return `${status} ${body}`;
  }
}
