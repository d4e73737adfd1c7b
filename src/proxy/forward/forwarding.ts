// One request on its way to an upstream and back: a destination, an endpoint, a connection, the head and the body out,
// the head in. Kept by the exchange and used again for its next request. It knows no version of HTTP.
import type { ProxyErrorType } from '../../errors.ts';
import { upstreamHost, upstreamTarget } from '../action/rewrite.ts';
import { type BodySource, pump } from '../exchange/body.ts';
import type { DownstreamResponse } from '../exchange/downstream.ts';
import type { Action, ActionExchange, ActionRun } from '../exchange/entry.ts';
import { proxyError } from '../exchange/proxy-error.ts';
import type { BodyKind, ExchangeRequest } from '../exchange/request.ts';
import type { ResponseHead } from '../exchange/response.ts';
import type { Wire } from '../socket/wire.ts';
import type { EndpointPool } from '../upstream/destination-pool.ts';
import type { ConnectionTaker } from '../upstream/opening.ts';
import type { ResponseReceiver, UpstreamRequest, UpstreamStream } from '../upstream/upstream-stream.ts';
import type { Upstream } from '../upstream/upstreams.ts';
import { Timed } from '../wheel.ts';
import { chooseDestination, type ForwardPlan } from './forward-plan.ts';

export class ForwardAction implements Action {
  readonly kind = 'forward';
  readonly plan: ForwardPlan;

  constructor(plan: ForwardPlan) {
    this.plan = plan;
  }

  begin(exchange: ActionExchange): void {
    const run = exchange.run instanceof Forwarding ? exchange.run : new Forwarding(exchange);
    exchange.run = run;
    run.begin(this.plan);
  }
}

/** `waiting`: for a connection. `sent`: for a response head. `responding`: its body is on its way. */
type Phase = 'idle' | 'waiting' | 'sent' | 'responding';

class Forwarding extends Timed implements ActionRun, ConnectionTaker, ResponseReceiver, UpstreamRequest {
  readonly request: ExchangeRequest;
  target = '';
  host = '';
  attempt = 0;
  bodyKind: BodyKind = 'none';
  expectContinue = false;
  grpcTimeout = '';
  readonly #exchange: ActionExchange;
  #phase: Phase = 'idle';
  #plan: ForwardPlan | undefined;
  #upstream: Upstream | undefined;
  #endpoint: EndpointPool | undefined;
  #stream: UpstreamStream | undefined;
  #attemptMs = 0;
  /** The request has been sent once more on another connection because the first had been closed while idle. */
  #repeated = false;
  #expectation: Expectation | undefined;

  constructor(exchange: ActionExchange) {
    super();
    this.#exchange = exchange;
    this.request = exchange.request;
  }

  begin(plan: ForwardPlan): void {
    const exchange = this.#exchange;
    const { wheel } = exchange;
    const upstream = chooseDestination(plan, exchange.upstreams);
    if (upstream === undefined) {
      exchange.fail(proxyError('no_destination', { destination: plan.destinations[0] }));
      return;
    }
    exchange.destinationId = upstream.id;
    if (upstream.closed !== undefined) {
      exchange.fail(proxyError(upstream.closed, { destination: upstream.id }, 'not available in this version'));
      return;
    }
    this.#plan = plan;
    this.#upstream = upstream;
    this.#repeated = false;
    this.target = upstreamTarget(plan.rewrite, plan.path, this.request);
    // A request of HTTP/1.0 may name no host.
    this.host = upstreamHost(plan.rewrite, this.request, upstream.host) || upstream.host;
    const budgetMs = plan.budgetMs ?? upstream.requestMs;
    if (budgetMs > 0) wheel.arm(this, budgetMs);
    this.#attemptOn(upstream);
  }

  cancel(): void {
    const stream = this.#stream;
    if (this.#phase === 'waiting') this.#upstream?.pool.cancel(this);
    this.over();
    stream?.destroy();
  }

  over(): void {
    this.#phase = 'idle';
    this.#plan = undefined;
    this.#upstream = undefined;
    this.#endpoint = undefined;
    this.#stream = undefined;
    this.#exchange.wheel.disarm(this);
    this.#endExpectation();
  }

  override onDeadline(): void {
    const stream = this.#stream;
    if (this.#phase === 'waiting') this.#upstream?.pool.cancel(this);
    this.#stream = undefined;
    this.#fail('timeout', 'the request budget is spent');
    stream?.destroy();
  }

  onConnection(stream: UpstreamStream): void {
    const exchange = this.#exchange;
    const upstream = this.#upstream;
    if (upstream === undefined) return;
    this.#phase = 'sent';
    this.#stream = stream;
    this.bodyKind = exchange.bodyKind;
    this.expectContinue = this.request.expectContinue && exchange.bodyUntouched;
    stream.send(this, this);
    if (this.bodyKind === 'none') return;
    if (this.expectContinue) this.#expect(upstream.expectContinueMs);
    pump(exchange.requestBody(), stream);
    stream.flush();
  }

  onNoConnection(type: ProxyErrorType, message: string): void {
    this.#fail(type, message);
  }

  onInterim(head: ResponseHead): void {
    this.#exchange.downstream.response.interim(head);
  }

  onResponse(head: ResponseHead, body: BodySource): void {
    const exchange = this.#exchange;
    this.#phase = 'responding';
    exchange.upstreamMs = exchange.clock.monotonicMs() - this.#attemptMs;
    exchange.relay(head, body);
  }

  onUpgrade(head: ResponseHead, socket: Wire, rest: Buffer): void {
    const exchange = this.#exchange;
    this.over();
    exchange.switch(head, socket, rest);
  }

  onFailure(type: ProxyErrorType, untouched: boolean, message: string): void {
    this.#stream = undefined;
    if (untouched && this.#mayRepeat()) this.#repeat();
    else this.#fail(type, message);
  }

  onSettled(): void {
    this.#exchange.downstream.response.flush();
  }

  #attemptOn(upstream: Upstream): void {
    const exchange = this.#exchange;
    this.#phase = 'waiting';
    this.#attemptMs = exchange.clock.monotonicMs();
    exchange.attempts++;
    this.attempt = this.#plan?.attemptCount === true ? exchange.attempts : 0;
    this.#endpoint = upstream.next();
    exchange.onEndpoint(upstream.id, this.#endpoint.name);
    upstream.pool.take(this.#endpoint, this);
  }

  /** A connection that was closed while idle says nothing about the request, if repeating it can do no harm. */
  #mayRepeat(): boolean {
    return !this.#repeated && this.#exchange.bodyKind === 'none' && idempotent.has(this.request.method);
  }

  #repeat(): void {
    const endpoint = this.#endpoint;
    const upstream = this.#upstream;
    if (endpoint === undefined || upstream === undefined) return;
    this.#repeated = true;
    this.#phase = 'waiting';
    // What else is idle there is as old, and as likely to be closed.
    endpoint.closeIdle();
    upstream.pool.take(endpoint, this);
  }

  #fail(type: ProxyErrorType, message: string): void {
    const exchange = this.#exchange;
    const place = { destination: exchange.destinationId, endpoint: exchange.endpoint || undefined };
    this.over();
    exchange.fail(proxyError(type, place, message));
    exchange.downstream.response.flush();
  }

  #expect(ms: number): void {
    if (ms <= 0) return;
    this.#expectation = new Expectation(this.#exchange.downstream.response);
    this.#exchange.wheel.arm(this.#expectation, ms);
  }

  #endExpectation(): void {
    if (this.#expectation === undefined) return;
    this.#exchange.wheel.remove(this.#expectation);
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
