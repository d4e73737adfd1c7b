// Outgoing request: the request of a client as its upstream gets it, with the target, the host and the fields that the
// route and the share set. One for each exchange slot; its head is written anew for each request.
import { upstreamHost, upstreamTarget } from '../action/target-rewrite.ts';
import type { ActionExchange } from '../exchange/entry.ts';
import type { BodyKind, ExchangeRequest } from '../message/request.ts';
import type { TraceFields, UpstreamRequest } from '../message/upstream-stream.ts';
import { type ExchangeTrace, placed } from '../tracing/exchange-trace.ts';
import { deadlinePassed, parseGrpcTimeout, renderGrpcTimeout } from '../upstream/grpc-timeout.ts';
import type { Upstream } from '../upstream/upstreams.ts';
import type { ForwardPlan } from './forward-plan.ts';
import type { ShareEdits } from './share.ts';
import { callTo, shownTarget } from './upstream-call.ts';

export class OutgoingRequest implements UpstreamRequest {
  readonly request: ExchangeRequest;
  target = '';
  host = '';
  attempt = 0;
  bodyKind: BodyKind = 'none';
  expectContinue = false;
  grpcTimeout = '';
  trace: TraceFields | undefined;
  readonly #exchange: ActionExchange;
  /** Limit of the deadlines of callers in milliseconds; 0 = none. */
  #grpcTimeoutMsMax = 0;

  constructor(exchange: ActionExchange) {
    this.#exchange = exchange;
    this.request = exchange.request;
  }

  get overdue(): boolean {
    const { nowMs, startedMs } = this.#exchange;
    return deadlinePassed(this.request, this.#grpcTimeoutMsMax, nowMs - startedMs);
  }

  /** Changes fields, target and host as the route says. */
  write(plan: ForwardPlan, upstream: Upstream): void {
    const exchange = this.#exchange;
    if (plan.headers !== undefined) plan.headers.onRequest?.(exchange, 0);
    // As in `edit`, written out: a call costs the plain path 2 % of its exchange.
    const { path, queryIsEmpty } = this.request;
    const query = exchange.upstreamQuery;
    const sent = query === undefined ? { path, query: this.request.query, queryIsEmpty } : { path, query };
    this.target = upstreamTarget(plan.rewrite, plan.path, sent);
    this.host = upstreamHost(plan.rewrite, this.request, upstream.host, this.request.edits.added('host'));
    this.#grpcTimeoutMsMax = plan.grpcTimeoutMsMax;
    this.grpcTimeout = plan.grpcTimeoutMsMax > 0 ? cappedGrpcTimeout(this.request, plan.grpcTimeoutMsMax) : '';
  }

  /** Changes fields, target and host as the share says. */
  edit(plan: ForwardPlan, { headers, rewrite = plan.rewrite }: ShareEdits, upstream: Upstream): void {
    const { request } = this;
    headers?.onRequest?.(this.#exchange, 0);
    const query = this.#exchange.upstreamQuery;
    this.target = upstreamTarget(rewrite, plan.path, query === undefined ? request : { path: request.path, query });
    this.host = upstreamHost(rewrite, request, upstream.host, request.edits.added('host'));
  }

  /** Begins the trace of an attempt. `endpoint`: its label. */
  beginTrace(plan: ForwardPlan, upstream: Upstream, trace: ExchangeTrace, endpoint: string): void {
    const { attempts: attempt } = this.#exchange;
    const fields =
      trace.unrecorded === undefined
        ? trace.beginAttempt(callTo(upstream, endpoint, shownTarget(plan, this.target), attempt))
        : trace.unrecorded.fields;
    if (!this.request.edits.empty) this.request.view.forgetHeaders();
    this.trace = placed(fields, this.request);
  }

  /** Takes the body as the middlewares have left it. */
  takeBody(): void {
    const { bodyKind, bodyUntouched } = this.#exchange;
    this.bodyKind = bodyKind;
    this.expectContinue = this.request.expectContinue && bodyUntouched;
  }
}

/** Returns an empty text when the request's own value stays. */
function cappedGrpcTimeout(request: ExchangeRequest, msMax: number): string {
  const asked = request.header('grpc-timeout');
  const ms = asked === undefined ? undefined : parseGrpcTimeout(asked);
  if (ms === undefined || ms <= msMax) return '';
  const capped = renderGrpcTimeout(msMax);
  // A value set by a middleware is edited once more.
  if (request.edits.added('grpc-timeout') === undefined) return capped;
  request.view.forgetHeaders();
  request.edits.set('grpc-timeout', capped);
  return '';
}
