// A proxy between a client and upstreams that speak one version of HTTP, each, for rows that hold for both.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createHttp2Server, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Configuration } from '../../src/model/proxy-config.ts';
import type { Route } from '../../src/model/route.ts';
import { Http2Client } from './http2-client.ts';
import { type Answer, PolicyBed } from './named-upstreams.ts';

export type Version = 'HTTP/1.1' | 'HTTP/2';

export const versions: readonly Version[] = ['HTTP/1.1', 'HTTP/2'];

/** A request as an upstream saw it. */
export interface Seen {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

type Respond = (name: string, response: ServerResponse) => void;

export class VersionedBed {
  readonly bed: PolicyBed;
  readonly version: Version;
  /** Requests of all upstreams, in order. */
  readonly seen: Seen[] = [];
  readonly #clients: Http2Client[] = [];
  readonly #ports = new Map<string, number>();

  private constructor(bed: PolicyBed, version: Version) {
    this.bed = bed;
    this.version = version;
  }

  static async open(version: Version, options: Parameters<typeof PolicyBed.open>[0] = {}): Promise<VersionedBed> {
    return new VersionedBed(await PolicyBed.open(options), version);
  }

  async end(): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.bed.end();
  }

  /** Upstreams that answer with their names and a field `x-up`, unless `respond` does. */
  async upstreams(names: readonly string[], respond?: Respond): Promise<void> {
    for (const name of names) {
      const handle = async (request: IncomingMessage | Http2ServerRequest, response: unknown): Promise<void> => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const { url = '', headers } = request;
        this.seen.push({ name, url, headers, body: Buffer.concat(chunks).toString() });
        if (respond !== undefined) respond(name, response as ServerResponse);
        else (response as ServerResponse).writeHead(200, { 'x-up': name }).end(name);
      };
      this.#ports.set(name, this.version === 'HTTP/2' ? await this.#http2(handle) : await this.bed.upstream(handle));
    }
  }

  /** Installs a route with this forward; destinations are the upstreams by name, and those of `more`. */
  install(forward: object, more: Partial<Configuration> = {}, route: Partial<Route> = {}): Promise<unknown> {
    const { destinations = [], ...rest } = more;
    return this.bed.install({
      listeners: [{ id: 'l', name: 'l', port: this.bed.port, http2: true, proxyErrors: { detail: 'full' } }],
      destinations: [...this.#ports.keys()].map((name) => this.destination(name)).concat(destinations as never),
      routes: [{ id: 'r', name: 'r', forward: forward as never, ...route }],
      ...rest,
    });
  }

  destination(id: string, options: object = {}) {
    const port = this.#ports.get(id) ?? 1;
    return { id, name: id, host: '127.0.0.1', port, options: { http2: this.version === 'HTTP/2', ...options } };
  }

  async ask(path = '/', headers: Record<string, string> = {}, body?: string): Promise<Answer> {
    const method = body === undefined ? 'GET' : 'POST';
    if (this.version === 'HTTP/1.1') {
      const { host, ...rest } = headers;
      return this.bed.ask(host === undefined ? rest : headers, { method, path, ...(body !== undefined && { body }) });
    }
    const { host = `127.0.0.1:${this.bed.port}`, ...rest } = headers;
    this.#clients[0] ??= new Http2Client(`http://127.0.0.1:${this.bed.port}`);
    const answer = await this.#clients[0].ask({ ':method': method, ':path': path, ':authority': host, ...rest }, body);
    if (answer.status === 0 || answer.code !== 0) throw new Error(`the stream was reset with ${answer.code}`);
    return answer;
  }

  /** Number of answers of each kind, by body, or by status where it is an error. */
  async counts(requests: number): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (let n = 0; n < requests; n++) {
      const { status, body } = await this.ask();
      const kind = status < 400 ? body : String(status);
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
    return counts;
  }

  async #http2(handle: (request: Http2ServerRequest, response: Http2ServerResponse) => Promise<void>): Promise<number> {
    const server = createHttp2Server((request, response) => void handle(request, response));
    const sessions = new Set<{ destroy(): void }>();
    server.on('session', (session) => sessions.add(session));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.bed.atEnd(async () => {
      for (const session of sessions) session.destroy();
      (server as unknown as Server).close();
    });
    return (server.address() as AddressInfo).port;
  }
}
