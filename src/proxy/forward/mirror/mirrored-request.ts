// Mirror: a copy of a request, sent to another destination beside the request itself (contract.md §7.13). It has an
// endpoint, a connection and limits of its own, and does not affect the request: data that it cannot take in time is
// dropped, and the copy with it.
import type { ProxyErrorType } from '../../../errors.ts';
import type { Clock } from '../../../util/clock.ts';
import { upstreamHost } from '../../action/target-rewrite.ts';
import type { ActionExchange } from '../../exchange/entry.ts';
import { type BodySink, type BodySource, pump } from '../../message/body.ts';
import type { BodyKind } from '../../message/request.ts';
import type { ResponseHead } from '../../message/response.ts';
import type {
  PoolCallbacks,
  ResponseReceiver,
  TraceFields,
  UpstreamRequest,
  UpstreamStream,
} from '../../message/upstream-stream.ts';
import type { TunnelEnd } from '../../socket/tunnel-end.ts';
import { placed, type TracedCall } from '../../tracing/exchange-trace.ts';
import type { Endpoint } from '../../upstream/endpoint-group.ts';
import { type Upstream, Upstreams } from '../../upstream/upstreams.ts';
import { Timed, type Wheel } from '../../wheel.ts';
import { EndpointChooser } from '../endpoint-chooser.ts';
import type { ForwardPlan, MirrorPlan } from '../forward-plan.ts';
import { InFlightPermit } from '../in-flight-permit.ts';
import { Sessions } from '../sessions.ts';
import { callTo, shownTarget } from '../upstream-call.ts';
import { BodyBuffer } from './body-buffer.ts';
import { Comparison } from './comparison.ts';
import { DroppedResponse } from './dropped-response.ts';
import { RequestSnapshot } from './request-snapshot.ts';
import type { CopySink } from './tee.ts';

/** Copies in flight in a worker. */
const copiesMax = 1_024;
/** Milliseconds that a copy may take where its destination sets no limit. */
const longestMs = 60_000;

/** Counter of this worker. */
const underWay = { copies: 0 };

/** Starts a copy; returns undefined where this request is not copied, or the mirror has no endpoint. */
export function startMirror(
  mirrorPlan: MirrorPlan,
  plan: ForwardPlan,
  order: UpstreamRequest,
  exchange: ActionExchange,
): Mirror | undefined {
  const { destinationId, share } = mirrorPlan;
  if (order.request.upgrade !== '' || (share < 1 && Math.random() >= share)) return undefined;
  const comparison = comparisonOf(mirrorPlan, exchange);
  const upstream = exchange.upstreams.get(destinationId);
  const admitted = upstream && permitOf(upstream);
  if (upstream === undefined || admitted === undefined) {
    comparison?.skip();
    return undefined;
  }
  const mirror = new Mirror(upstream, admitted, plan, order, exchange, comparison);
  mirror.begin(exchange);
  return mirror;
}

/** Returns undefined where the destination takes no copy now. */
function permitOf(upstream: Upstream): InFlightPermit | undefined {
  if (!upstream.available) return undefined;
  if (underWay.copies >= copiesMax) {
    upstream.breaker.countLostCopy();
    return undefined;
  }
  const admitted = new InFlightPermit();
  return admitted.enter(upstream.breaker) ? admitted : undefined;
}

/** Returns undefined where this copy is not compared. */
function comparisonOf({ destinationId, compare }: MirrorPlan, exchange: ActionExchange): Comparison | undefined {
  if (compare === undefined || (compare.sample < 1 && Math.random() >= compare.sample)) return undefined;
  return new Comparison(compare, exchange.verdictReporter(destinationId));
}

export class Mirror extends Timed implements PoolCallbacks, ResponseReceiver, UpstreamRequest, BodySource, CopySink {
  readonly request: RequestSnapshot;
  readonly target: string;
  readonly host: string;
  readonly attempt: number;
  readonly bodyKind: BodyKind;
  readonly expectContinue = false;
  readonly grpcTimeout: string;
  trace: TraceFields | undefined;
  /** A copy has no caller with a deadline. */
  readonly overdue = false;
  readonly #upstream: Upstream;
  readonly #permit: InFlightPermit;
  readonly #wheel: Wheel;
  #endpoint: Endpoint | undefined;
  #stream: UpstreamStream | undefined;
  /** Copied bytes that the connection has not taken. */
  readonly #waiting = new BodyBuffer();
  #blocked = true;
  #ended = false;
  #trailers = '';
  #repeated = false;
  #count: (() => void) | undefined;
  #over = false;
  #traced: TracedCall | undefined;
  readonly #shownTarget: string;
  #status = 0;
  /** Undefined: the response is dropped unread. */
  readonly comparison: Comparison | undefined;
  #dropped: DroppedResponse | undefined;
  readonly #primary = { isOver: false };
  readonly #clock: Clock;
  readonly #startedMs: number;

  constructor(
    upstream: Upstream,
    admitted: InFlightPermit,
    plan: ForwardPlan,
    order: UpstreamRequest,
    exchange: ActionExchange,
    comparison: Comparison | undefined,
  ) {
    super();
    this.comparison = comparison;
    this.#clock = exchange.clock;
    this.#startedMs = comparison === undefined ? 0 : exchange.clock.monotonicMs();
    this.request = new RequestSnapshot(order.request);
    this.target = order.target;
    this.#shownTarget = shownTarget(plan, order.target);
    const ownHost = order.request.edits.added('host');
    this.host = upstreamHost(plan.rewrite, order.request, upstream.host, ownHost);
    this.attempt = plan.attemptCount ? 1 : 0;
    this.bodyKind = exchange.bodyKind;
    this.grpcTimeout = order.grpcTimeout;
    this.#ended = exchange.bodyKind === 'none';
    this.#upstream = upstream;
    this.#count = exchange.copyCounter(upstream.id);
    this.#permit = admitted;
    this.#wheel = exchange.wheel;
    underWay.copies++;
  }

  begin({ trace }: ActionExchange): void {
    const upstream = this.#upstream;
    this.#wheel.arm(this, upstream.requestMs || longestMs);
    const endpoint = new EndpointChooser(new Sessions(this.request)).choose(upstream, Upstreams.none);
    if (endpoint === undefined) {
      this.#end();
      return;
    }
    this.#endpoint = endpoint;
    if (trace !== undefined) {
      this.#traced = trace.copy(callTo(upstream, endpoint.label, this.#shownTarget, 0));
      this.trace = placed(this.#traced.fields, this.request);
    }
    this.#permit.enterEndpoint(endpoint);
    upstream.pool.take(endpoint.pool, this);
  }

  /** True while a part of the body has not arrived. */
  get wantsRest(): boolean {
    return !this.#ended && !this.#over;
  }

  /** Called when the request itself has its response. */
  onPrimaryOver(): void {
    this.#primary.isOver = true;
    this.comparison?.primaryOver();
    this.#dropped?.onPrimaryOver();
  }

  /** Called when the rest of the body will not arrive. */
  onRestLost(): void {
    if (!this.#ended) this.#drop();
  }

  // Callbacks of the tee.

  copy(chunk: Buffer): void {
    if (this.#over) return;
    if (this.#stream !== undefined && !this.#blocked && this.#waiting.empty) {
      this.#blocked = !this.#stream.data(chunk);
      return;
    }
    if (this.#waiting.push(chunk)) return;
    this.#upstream.breaker.countLostCopy();
    this.#drop();
  }

  copyEnd(trailers: string): void {
    this.#ended = true;
    this.#trailers = trailers;
    if (this.#stream !== undefined && !this.#blocked && this.#waiting.empty) this.#stream.end(trailers);
  }

  // Source of the copied body.

  start(sink: BodySink): void {
    sink.from(this);
    this.resume();
  }

  pause(): void {
    this.#blocked = true;
  }

  resume(): void {
    this.#blocked = false;
    while (!this.#blocked && !this.#waiting.empty && this.#stream !== undefined) {
      this.#blocked = !this.#waiting.deliver(this.#stream);
    }
    if (!this.#blocked && this.#waiting.empty && this.#ended) this.#stream?.end(this.#trailers);
  }

  abort(): void {
    // The upstream has answered and does not want the rest of the body.
    this.#waiting.clear();
  }

  // Callbacks of the upstream.

  onConnection(stream: UpstreamStream): void {
    this.#stream = stream;
    this.#count?.();
    this.#count = undefined;
    stream.send(this, this);
    if (this.bodyKind === 'none') return;
    this.start(stream);
    stream.flush();
  }

  onNoConnection(type: ProxyErrorType): void {
    this.#traced?.end(0, type);
    if (type !== 'circuit_open') this.#observe(type === 'timeout' ? 504 : 502);
    this.#permit.conclude(type === 'circuit_open' ? 'unknown' : 'failure');
    if (type !== 'circuit_open') this.comparison?.mirrorFailed(type);
    this.#end();
  }

  onInterim(): void {}

  onResponse(head: ResponseHead, body: BodySource): void {
    this.#status = head.status;
    this.#observe(head.status);
    this.#permit.conclude(head.status >= 500 ? 'failure' : 'success');
    const { comparison } = this;
    comparison?.onMirror(head, this.#clock.monotonicMs() - this.#startedMs);
    this.#dropped = new DroppedResponse(body, this.#primary, this.#wheel, comparison, () => this.#end());
    pump(body, this.#dropped);
  }

  onUpgrade(_head: ResponseHead, socket: TunnelEnd): void {
    socket.destroy();
    this.#end();
  }

  onFailure(type: ProxyErrorType, untouched: boolean): void {
    this.#stream = undefined;
    const endpoint = this.#endpoint;
    if (untouched && this.bodyKind === 'none' && !this.#repeated && endpoint !== undefined) {
      this.#repeated = true;
      endpoint.pool.closeIdle();
      this.#upstream.pool.take(endpoint.pool, this);
      return;
    }
    this.#traced?.end(0, type);
    this.#observe(type === 'timeout' ? 504 : 502);
    this.#permit.conclude('failure');
    this.comparison?.mirrorFailed(type);
    this.#end();
  }

  onSettled(): void {}

  override onDeadline(): void {
    this.#traced?.end(this.#status, 'timeout');
    this.#permit.conclude('failure');
    this.comparison?.mirrorFailed('timeout');
    this.#drop();
  }

  #observe(status: number): void {
    if (this.#endpoint !== undefined) this.#upstream.group.outlier.observe(this.#endpoint.state, status);
  }

  #drop(): void {
    const stream = this.#stream;
    const endpoint = this.#endpoint;
    if (this.#over) return;
    if (stream === undefined && endpoint !== undefined) this.#upstream.pool.cancel(endpoint.pool, this);
    this.#end();
    stream?.destroy(this);
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.comparison?.mirrorOver();
    this.#dropped?.close();
    this.#traced?.end(this.#status, this.#status === 0 ? 'aborted' : '');
    underWay.copies--;
    this.#stream = undefined;
    this.#waiting.clear();
    this.#wheel.remove(this);
    this.#permit.leave();
  }
}
