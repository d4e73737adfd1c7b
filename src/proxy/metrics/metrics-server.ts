// Metrics of all listeners at one address of the process (`proxy.metrics.address`), so that those of a public listener need
// not be on it. Each series carries its listener, for two listeners may count the same route.
import { createServer, type ServerResponse } from 'node:http';
import { listenerDefaults } from '../../model/defaults.ts';
import type { Listener } from '../../model/listener.ts';
import { inSlices } from '../compile-slices.ts';
import { collectedOf } from './collected.ts';
import { expositionType } from './exposition.ts';
import { type Collected, labelsText } from './families.ts';

export interface MetricsAddress {
  /** Empty for all interfaces. */
  readonly host: string;
  readonly port: number;
}

/** Returns the metrics of a listener, of all workers, as text. */
type Expose = (listener: string, collected: Collected) => Promise<Uint8Array>;

const sliceMs = 5;
/** Lines between two pauses. */
const stride = 512;

export class MetricsServer {
  readonly #expose: Expose;
  readonly #server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (request, response) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const [path] = (request.url ?? '').split('?', 1);
    if (path !== listenerDefaults.metrics.path) answer(response, 404, 'no such path: the metrics are at /metrics\n');
    else if (!isRead) answer(response.setHeader('Allow', 'GET, HEAD'), 405, `${request.method} is not allowed here\n`);
    else {
      this.#text().then(
        (text) => answer(response, 200, text),
        () => response.destroy(),
      );
    }
  });
  #listeners: readonly Listener[] = [];

  constructor(expose: Expose) {
    this.#expose = expose;
  }

  /** Takes the listeners of the configuration that is live. */
  take(listeners: readonly Listener[]): void {
    this.#listeners = listeners;
  }

  /** Rejects with the system's error when the address cannot be bound. */
  listen({ host, port }: MetricsAddress): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) => {
        const place = `${host}:${port}`;
        const why = `the metrics cannot listen at proxy.metrics.address ${place}: ${error.code ?? error.message}`;
        reject(new Error(why, { cause: error }));
      });
      this.#server.listen({ port, ...(host !== '' && { host }) }, () => {
        this.#server.removeAllListeners('error');
        resolve();
      });
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #text(): Promise<string> {
    const families = new Map<string, string[]>();
    for (const listener of this.#listeners) {
      const collected = collectedOf(listener);
      if (collected === undefined) continue;
      const text = Buffer.from(await this.#expose(listener.id, collected)).toString();
      await inSlices(addTo(families, text, listener.name), sliceMs);
    }
    return [...families].map(([head, lines]) => head + lines.join('')).join('');
  }
}

/** Adds the series of one listener to those of all: a family may stand in a text only once. */
function* addTo(families: Map<string, string[]>, text: string, listener: string): Generator<void, void> {
  const label = labelsText([['listener', listener]]);
  let lines: string[] = [];
  let head = '';
  for (const [at, line] of text.split('\n').entries()) {
    if (line.startsWith('# HELP')) head = `${line}\n`;
    else if (line.startsWith('# TYPE')) {
      head += `${line}\n`;
      lines = families.get(head) ?? [];
      families.set(head, lines);
    } else if (line !== '') lines.push(`${ownListener.test(line) ? line : line.replace('{', `{${label},`)}\n`);
    if (at % stride === 0) yield;
  }
}

/** Series that name their listener already. */
const ownListener = /^\w+\{listener="/;

function answer(response: ServerResponse, status: number, text: string): void {
  const bytes = Buffer.from(text);
  const type = status === 200 ? expositionType : 'text/plain; charset=utf-8';
  const fields = { 'Content-Type': type, 'Content-Length': bytes.length, 'Cache-Control': 'no-store' };
  response.writeHead(status, fields).end(response.req.method === 'HEAD' ? undefined : bytes);
}
