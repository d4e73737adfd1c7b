// A control plane of another make: a server whose stream says exactly what a test lets it say.
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './eventually.ts';

export class StreamStub {
  readonly #server: Server;
  readonly streams: ServerResponse[] = [];
  readonly asked: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
  readonly posted: { readonly path: string; readonly body: Record<string, unknown> }[] = [];
  /** Headers of the next streams. */
  headers: OutgoingHttpHeaders = { 'Content-Type': 'text/event-stream' };
  status = 200;
  postStatus = 204;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(port = 0): Promise<StreamStub> {
    const server = createServer((request, response) => void stub.#answer(request, response));
    const stub = new StreamStub(server);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return stub;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Resolves with the newest stream once there have been `count`. */
  async stream(count = 1): Promise<ServerResponse> {
    return await eventually(() => {
      const stream = this.streams[count - 1];
      if (stream === undefined) throw new Error(`${this.streams.length} of ${count} streams`);
      return stream;
    });
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: import('node:http').IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    if (request.method === 'GET') {
      this.asked.push({ path, headers: request.headers });
      response.writeHead(this.status, this.headers);
      if (this.status !== 200) {
        response.end();
        return;
      }
      response.flushHeaders();
      this.streams.push(response);
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    this.posted.push({ path, body: JSON.parse(Buffer.concat(chunks).toString()) });
    response.writeHead(this.postStatus).end();
  }
}

/** The data of an event with one route that answers `body`. */
export const snapshotData = (body: string, more: object = {}): string =>
  JSON.stringify({
    id: `snapshot-${body}`,
    name: body,
    createdAt: '2031-01-01T00:00:00Z',
    snapshot: {
      listeners: [],
      routes: [{ id: 'r', name: 'r', match: {}, directResponse: { status: 200, body } }],
      groups: [],
      destinations: [],
      middlewares: [],
    },
    ...more,
  });

export const snapshotEvent = (body: string, id?: number | string): string =>
  `event: snapshot\n${id === undefined ? '' : `id: ${id}\n`}data: ${snapshotData(body)}\n\n`;
