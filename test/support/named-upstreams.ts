// Upstreams that say who they are, and clients that ask who answers.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Agent, request } from 'undici';
import type { Configuration } from '../../src/model/proxy-config.ts';
import { freePort } from './free-port.ts';
import { ProxyBed } from './proxy-bed.ts';

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Record<string, string | string[] | undefined>;
}

type BedOptions = ConstructorParameters<typeof ProxyBed>[0];

export class PolicyBed extends ProxyBed {
  port = 0;
  readonly #agent = new Agent();

  static async open(options: BedOptions = {}): Promise<PolicyBed> {
    const bed = new PolicyBed(options);
    bed.port = await freePort();
    bed.atEnd(async () => bed.#agent.destroy());
    return bed;
  }

  /** Upstreams that answer with their names, each on a port of its own, unless `answer` has already answered. */
  async named(
    names: readonly string[],
    answer?: (name: string, request: IncomingMessage, response: ServerResponse) => void,
  ): Promise<number[]> {
    const listener =
      (name: string): RequestListener =>
      (incoming, response) => {
        answer?.(name, incoming, response);
        if (!response.writableEnded && answer === undefined) response.end(name);
      };
    return Promise.all(names.map((name) => this.upstream(listener(name))));
  }

  /** One route for everything to one destination with these endpoints. */
  balanced(ports: readonly number[], options: object = {}, forward: object = {}, more: Partial<Configuration> = {}) {
    return this.install(this.configuration(ports, options, forward, more));
  }

  configuration(
    ports: readonly number[],
    options: object = {},
    forward: object = {},
    more: Partial<Configuration> = {},
  ): Partial<Configuration> {
    const endpoints = ports.map((port) => ({ host: '127.0.0.1', port }));
    const { destinations = [], ...rest } = more;
    return {
      listeners: [{ id: 'l', name: 'l', port: this.port, proxyErrors: { detail: 'full' } }],
      destinations: [
        { id: 'd', name: 'd', host: '127.0.0.1', port: ports[0] ?? 1, endpoints, options },
        ...destinations,
      ],
      routes: [{ id: 'r', name: 'r', forward: { destinations: [{ destinationId: 'd' }], ...forward } }],
      ...rest,
    };
  }

  async ask(headers: Record<string, string> = {}, options: { method?: string; path?: string; body?: string } = {}) {
    const { method = 'GET', path = '/', body } = options;
    const answer = await request(`http://127.0.0.1:${this.port}${path}`, {
      dispatcher: this.#agent,
      method: method as 'GET',
      headers,
      body,
    });
    return { status: answer.statusCode, body: await answer.body.text(), headers: answer.headers } satisfies Answer;
  }

  /** Bodies of so many answers, one after the other. */
  async bodies(count: number, headers: Record<string, string> = {}): Promise<string[]> {
    const bodies: string[] = [];
    for (let i = 0; i < count; i++) bodies.push((await this.ask(headers)).body);
    return bodies;
  }

  /** Type of the proxy error that is the answer. */
  async error(headers: Record<string, string> = {}): Promise<string> {
    const { body } = await this.ask(headers);
    return (JSON.parse(body) as { error: string }).error;
  }
}

/** `name=value` of the cookie that a response sets. */
export function cookieSet({ headers }: Answer): string {
  const line = [headers['set-cookie']].flat()[0];
  return line?.split(';')[0] ?? '';
}
