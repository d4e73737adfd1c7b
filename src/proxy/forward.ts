// The forward action: one request goes to an endpoint of one destination and its response comes back, both bodies
// streaming, each side waiting for the other. A client that goes away takes its upstream request with it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Dispatcher, errors } from 'undici';
import type { Cancel, Clock } from '../clock.ts';
import type { ProxyErrorType } from '../errors.ts';
import { downstreamFields } from './field-lines.ts';
import { type ProxyError, proxyError } from './proxy-error.ts';
import type { Upstream } from './upstream.ts';

export interface ForwardOrder {
  readonly method: string;
  /** Path and query as the upstream is to see them. */
  readonly target: string;
  readonly fields: string[];
  readonly upstream: Upstream;
  /** Whole exchange, body included; 0 = no limit. */
  readonly budgetMs: number;
  /** From the first to the last byte of the response; 0 = no limit. */
  readonly responseMs: number;
  readonly serverName: string | undefined;
}

type Answer = (error: ProxyError) => void;

/** `answer` is called at most once, and only while no response head has been sent. */
export function forward(
  order: ForwardOrder,
  request: IncomingMessage,
  response: ServerResponse,
  clock: Clock,
  answer: Answer,
): void {
  const endpoint = order.upstream.next();
  const place = { destination: order.upstream.id, endpoint: endpoint.name };
  const handler = new ForwardHandler(order, response, clock, (type, message) =>
    answer(proxyError(type, place, message)),
  );
  endpoint.pool.dispatch(
    {
      method: order.method,
      path: order.target,
      headers: order.fields,
      body: hasBody(request) ? request : null,
    },
    handler,
  );
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

class ForwardHandler implements Dispatcher.DispatchHandler {
  readonly #order: ForwardOrder;
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  readonly #fail: (type: ProxyErrorType, message?: string) => void;
  readonly #timers: Cancel[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #gone = false;

  constructor(
    order: ForwardOrder,
    response: ServerResponse,
    clock: Clock,
    fail: (type: ProxyErrorType, message?: string) => void,
  ) {
    this.#order = order;
    this.#response = response;
    this.#clock = clock;
    this.#fail = fail;
    response.once('close', () => this.#clientClosed());
    response.on('drain', () => this.#controller?.resume());
    if (order.budgetMs > 0) this.#timers.push(clock.after(order.budgetMs, () => this.#overdue()));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#gone) controller.abort(new Error('the client has gone'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, _headers: unknown, reason?: string): void {
    if (status < 200 || this.#gone) return;
    const fields = downstreamFields(linesOf(controller.rawHeaders), this.#order.serverName);
    this.#response.sendDate = false;
    this.#response.writeHead(status, reason, fields);
    const { responseMs } = this.#order;
    if (responseMs > 0) this.#timers.push(this.#clock.after(responseMs, () => this.#response.destroy()));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#gone && !this.#response.write(chunk)) controller.pause();
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    this.#settle();
    const trailers = linesOf(controller.rawTrailers);
    const pairs: [string, string][] = [];
    for (let i = 0; i + 1 < trailers.length; i += 2) pairs.push([trailers[i] ?? '', trailers[i + 1] ?? '']);
    if (pairs.length > 0) this.#response.addTrailers(pairs);
    this.#response.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle();
    if (this.#gone) return;
    if (this.#response.headersSent) this.#response.destroy();
    else this.#fail(classify(error));
  }

  #overdue(): void {
    if (this.#response.headersSent) this.#response.destroy();
    else {
      this.#gone = true;
      this.#fail('timeout');
      this.#controller?.abort(new Error('the request budget is spent'));
    }
  }

  #clientClosed(): void {
    if (this.#response.writableFinished) return;
    this.#gone = true;
    this.#settle();
    this.#controller?.abort(new Error('the client has gone'));
  }

  #settle(): void {
    for (const cancel of this.#timers.splice(0)) cancel();
  }
}

const linesOf = (raw: Dispatcher.DispatchController['rawHeaders']): string[] =>
  Array.isArray(raw) ? raw.map((item) => (typeof item === 'string' ? item : item.toString('latin1'))) : [];

const byCode: Readonly<Record<string, ProxyErrorType>> = {
  ENOTFOUND: 'dns_failure',
  EAI_AGAIN: 'dns_failure',
  EAI_FAIL: 'dns_failure',
  ENODATA: 'dns_failure',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  UND_ERR_SOCKET: 'connection_reset',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'bad_response',
};

function classify(error: Error): ProxyErrorType {
  if (error instanceof errors.HTTPParserError) return 'bad_response';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return byCode[code] ?? (code.startsWith('HPE_') ? 'bad_response' : 'connection_refused');
}
