// Admin port of a proxy apart from its control plane: `/healthz`, `/readyz`, `/metrics`, `/debug/config`, `/requests`.
// On loopback by default and without keys, so it shows no secret and takes no command.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SluiceError } from '../errors.ts';
import type { Address } from '../settings/address.ts';

export interface AdminPage {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

export interface AdminServerOptions {
  /** By path. What they throw as SluiceError is for the caller. */
  readonly pages: Readonly<Record<string, (query: URLSearchParams) => AdminPage | Promise<AdminPage>>>;
  /** Throws for a request of a web page of somewhere else. */
  readonly guard: (request: IncomingMessage) => void;
}

export const jsonPage = (status: number, value: object): AdminPage => ({
  status,
  type: 'application/json',
  body: JSON.stringify(value),
});

export class AdminServer {
  readonly #options: AdminServerOptions;
  readonly #server: Server;

  constructor(options: AdminServerOptions) {
    this.#options = options;
    this.#server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (request, response) => {
      void this.#answer(request, response);
    });
  }

  /** Rejects when the address cannot be had. */
  listen({ host, port }: Address): Promise<Address> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ port, ...(host !== '' && { host }) }, () => {
        this.#server.off('error', reject);
        const bound = this.#server.address() as AddressInfo;
        resolve({ host: bound.address, port: bound.port });
      });
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, type, body } = await this.#page(request);
    response.writeHead(status, {
      'Content-Type': type,
      'Content-Length': Buffer.byteLength(body),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...(status === 405 && { Allow: 'GET, HEAD' }),
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  }

  async #page(request: IncomingMessage): Promise<AdminPage> {
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    const { pages, guard } = this.#options;
    try {
      guard(request);
    } catch (error) {
      return jsonPage(403, { error: error instanceof Error ? error.message : 'refused' });
    }
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (page === undefined) return jsonPage(404, { error: `no such path: ${path}` });
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return jsonPage(405, { error: `${request.method} is not allowed here` });
    }
    try {
      return await page(new URLSearchParams(query));
    } catch (error) {
      if (error instanceof SluiceError) return jsonPage(error.status, { error: error.message });
      return jsonPage(500, { error: 'the page cannot be made' });
    }
  }
}
