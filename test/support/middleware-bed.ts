// Middlewares in front of an upstream that tells what it was sent, on real sockets.
import { type IncomingHttpHeaders, type IncomingMessage, request as nodeRequest } from 'node:http';
import type { Group } from '../../src/model/group.ts';
import type { Middleware } from '../../src/model/middleware.ts';
import type { Configuration } from '../../src/model/proxy-config.ts';
import type { Route } from '../../src/model/route.ts';
import { freePort } from './free-port.ts';
import { type BedOptions, ProxyBed } from './proxy-bed.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Ask {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
}

export interface Surroundings {
  readonly route?: Partial<Route>;
  readonly group?: Partial<Group>;
  readonly listener?: object;
  readonly more?: Partial<Configuration>;
}

export type NamedMiddleware = Omit<Middleware, 'id' | 'name'> & { readonly id?: string };

/** Route `r` in group `g` runs them in their order; their ids are m0, m1 … */
export class MiddlewareBed {
  readonly bed: ProxyBed;
  /** Requests that the upstream got, oldest first. */
  readonly reached: IncomingMessage[] = [];
  /** Answer of the upstream. */
  answer: { status: number; headers: Readonly<Record<string, string | string[]>>; body: string } = {
    status: 200,
    headers: {},
    body: 'upstream',
  };
  /** Body of the request that reached the upstream last. */
  lastBody = '';
  port = 0;
  upstreamPort = 0;

  constructor(options: BedOptions = {}) {
    this.bed = new ProxyBed(options);
  }

  async serve(middlewares: readonly NamedMiddleware[], around: Surroundings = {}): Promise<void> {
    if (this.port === 0) {
      this.port = await freePort();
      this.upstreamPort = await this.bed.upstream((request, response) => {
        this.reached.push(request);
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => {
          this.lastBody = Buffer.concat(chunks).toString('utf8');
          response.writeHead(this.answer.status, { ...this.answer.headers });
          response.end(this.answer.body);
        });
      });
    }
    const named = middlewares.map((middleware, i) => ({ id: `m${i}`, name: `m${i}`, ...middleware }));
    await this.bed.install({
      listeners: [{ id: 'l', name: 'l', port: this.port, ...around.listener }],
      destinations: [
        { id: 'd', name: 'd', host: '127.0.0.1', port: this.upstreamPort },
        ...(around.more?.destinations ?? []),
      ],
      middlewares: named,
      routes: [
        {
          id: 'r',
          name: 'r',
          middlewareIds: named.map(({ id }) => id),
          forward: { destinations: [{ destinationId: 'd' }] },
          ...around.route,
        },
        ...(around.more?.routes ?? []),
      ],
      groups: [{ id: 'g', name: 'g', routeIds: ['r'], ...around.group }],
      consumers: around.more?.consumers ?? [],
    });
  }

  ask({ method = 'GET', path = '/', headers = {}, body }: Ask = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const request = nodeRequest(
        {
          host: '127.0.0.1',
          port: this.port,
          method,
          path,
          headers: headers as Record<string, string | string[]>,
          agent: false,
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: Buffer.concat(chunks).toString('utf8'),
            }),
          );
        },
      );
      request.on('error', reject);
      request.end(body);
    });
  }

  /** Values of a header that the upstream got last. */
  lastSent(name: string): string | readonly string[] | undefined {
    const last = this.reached.at(-1);
    const values = last?.headersDistinct[name.toLowerCase()];
    return values === undefined || values.length !== 1 ? values : values[0];
  }

  end(): Promise<void> {
    return this.bed.end();
  }
}
