// One request and what becomes of it, used again for the next request of the same connection (proxy.md, Exchange).
// It keeps the table it began with, sends at most one request at a time upstream, and ends in one place however it
// ends. It knows when something happens; the connections know how.
import type { Clock } from '../clock.ts';
import type { ProxyErrorType } from '../errors.ts';
import { pump } from './body.ts';
import { decide, type ForwardOrder, type Installed, type ServeSettings } from './decision.ts';
import type { Downstream, DownstreamResponse } from './downstream.ts';
import type { ClientConnection, ResponseReceiver } from './http1/client-connection.ts';
import { renderRequest } from './http1/render.ts';
import { proxyError } from './proxy-error.ts';
import type { Wire } from './socket/wire.ts';
import type { EndpointPool } from './upstream/destination-pool.ts';
import type { ConnectionTaker } from './upstream/opening.ts';
import { Timed, type Wheel } from './wheel.ts';

/** What a listener gives to the connections it accepts. */
export interface ExchangeContext {
  readonly wheel: Wheel;
  readonly clock: Clock;
  /** Of this moment; each exchange asks once. */
  installed(): Installed;
  settings(): ServeSettings;
  /** A request goes on with the path `sent`, because its listener only reports that it is not canonical. */
  reportPath(sent: string, canonical: string): void;
  /** The listener is closing: connections end with the response under way. */
  draining(): boolean;
}

/** `waiting`: for a connection. `sent`: for a response head. `responding`: its body is on its way. */
type Phase = 'idle' | 'waiting' | 'sent' | 'responding';

export class Exchange extends Timed implements ConnectionTaker, ResponseReceiver {
  readonly #downstream: Downstream;
  readonly #context: ExchangeContext;
  #phase: Phase = 'idle';
  #order: ForwardOrder | undefined;
  #endpoint: EndpointPool | undefined;
  #connection: ClientConnection | undefined;
  #retried = false;
  #expectation: Expectation | undefined;

  constructor(downstream: Downstream, context: ExchangeContext) {
    super();
    this.#downstream = downstream;
    this.#context = context;
  }

  /** The downstream has a request whose head is whole. */
  begin(): void {
    const downstream = this.#downstream;
    const { table, upstreams } = this.#context.installed();
    const entry = table.match(downstream.request);
    if (this.#context.settings().debugHeaders) downstream.response.debugRoute = entry?.route.name;
    const decision = decide(entry, downstream.request, upstreams);
    if ('type' in decision) downstream.response.answerError(decision);
    else if ('status' in decision) downstream.response.answer(decision);
    else this.#forward(decision);
  }

  /** Nobody is there to answer any more, or nobody can go on asking. Not a failure of the upstream's. */
  abandon(): void {
    if (this.#phase === 'idle') return;
    const connection = this.#connection;
    const order = this.#order;
    const waiting = this.#phase === 'waiting';
    this.#finish();
    if (waiting) order?.upstream.pool.cancel(this);
    connection?.destroy();
  }

  override onDeadline(): void {
    this.#giveUp('timeout', 'the request budget is spent');
  }

  onConnection(connection: ClientConnection): void {
    const { request, framing } = this.#downstream;
    const order = this.#order;
    if (order === undefined) return;
    this.#phase = 'sent';
    this.#connection = connection;
    const { method, authority } = request;
    const line = { method, target: order.target, host: order.host, authority, attempt: order.attemptCount ? 1 : 0 };
    const head = renderRequest(line, request.parser.head, framing, this.#downstream.sender());
    connection.send(this, head, framing.kind, method, framing.upgrade !== '');
    if (framing.kind === 'none') return;
    if (framing.expectContinue) this.#expect(order.upstream.expectContinueMs);
    pump(this.#downstream, connection);
    connection.flush();
  }

  onNoConnection(type: ProxyErrorType, message: string): void {
    this.#fail(type, message);
  }

  onInterim(connection: ClientConnection): void {
    this.#downstream.response.interim(connection);
  }

  onResponse(connection: ClientConnection): void {
    this.#phase = 'responding';
    this.#downstream.response.relay(connection);
    pump(connection, this.#downstream.response);
  }

  onUpgrade(connection: ClientConnection, socket: Wire, rest: Buffer): void {
    this.#finish();
    this.#downstream.tunnel(connection, socket, rest);
  }

  onFailure(type: ProxyErrorType, untouched: boolean, message: string): void {
    this.#connection = undefined;
    if (untouched && this.#mayRepeat()) this.#repeat();
    else this.#fail(type, message);
  }

  onSettled(): void {
    this.#downstream.response.flush();
  }

  /** The response has been written to its end. */
  onResponseSent(): void {
    this.#finish();
  }

  #forward(order: ForwardOrder): void {
    this.#order = order;
    this.#phase = 'waiting';
    this.#retried = false;
    if (order.budgetMs > 0) this.#context.wheel.arm(this, order.budgetMs);
    this.#endpoint = order.upstream.next();
    order.upstream.pool.take(this.#endpoint, this);
  }

  /** A connection that was closed while idle says nothing about the request, if repeating it can do no harm. */
  #mayRepeat(): boolean {
    const { request, framing } = this.#downstream;
    return !this.#retried && framing.kind === 'none' && idempotent.has(request.method);
  }

  #repeat(): void {
    const endpoint = this.#endpoint;
    const order = this.#order;
    if (endpoint === undefined || order === undefined) return;
    this.#retried = true;
    this.#phase = 'waiting';
    // What else is idle there is as old, and as likely to be closed.
    endpoint.closeIdle();
    order.upstream.pool.take(endpoint, this);
  }

  #giveUp(type: ProxyErrorType, message: string): void {
    const connection = this.#connection;
    if (this.#phase === 'waiting') this.#order?.upstream.pool.cancel(this);
    this.#fail(type, message);
    connection?.destroy();
  }

  #fail(type: ProxyErrorType, message: string): void {
    const order = this.#order;
    const endpoint = this.#endpoint;
    this.#finish();
    const place = { destination: order?.upstream.id, endpoint: endpoint?.name };
    this.#downstream.response.answerError(proxyError(type, place, message));
  }

  #expect(ms: number): void {
    if (ms <= 0) return;
    this.#expectation = new Expectation(this.#downstream.response);
    this.#context.wheel.arm(this.#expectation, ms);
  }

  #finish(): void {
    this.#phase = 'idle';
    this.#order = undefined;
    this.#endpoint = undefined;
    this.#connection = undefined;
    this.#context.wheel.disarm(this);
    if (this.#expectation !== undefined) this.#context.wheel.remove(this.#expectation);
    this.#expectation = undefined;
  }
}

/** An upstream that says nothing to `Expect: 100-continue` gets the body all the same (contract.md §2.3.2). */
class Expectation extends Timed {
  readonly #response: DownstreamResponse;

  constructor(response: DownstreamResponse) {
    super();
    this.#response = response;
  }

  override onDeadline(): void {
    this.#response.continue();
  }
}

/** RFC 9110 §9.2.2. */
const idempotent: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE']);
