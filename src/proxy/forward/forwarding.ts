// Forwarding of one request: choose a destination, an endpoint and a connection, send head and body, receive the
// head, and repeat for each retry. Kept by the exchange and reused for its next request. Independent of the version
// of HTTP.

import type { ProxyErrorType } from '../../errors.ts';
import type { Cancel } from '../../util/clock.ts';
import type { ActionExchange, ActionRun } from '../exchange/entry.ts';
import { type BodySource, pump } from '../message/body.ts';
import type { ClientEnds } from '../message/client-ends.ts';
import { proxyError } from '../message/proxy-error.ts';
import type { ResponseHead } from '../message/response.ts';
import type { PoolCallbacks, ResponseReceiver, UpstreamStream } from '../message/upstream-stream.ts';
import type { TunnelEnd } from '../socket/tunnel-end.ts';
import type { ExchangeResult } from '../upstream/circuit-breaker.ts';
import type { Endpoint } from '../upstream/endpoint-group.ts';
import type { Upstream, Upstreams } from '../upstream/upstreams.ts';
import { Timed } from '../wheel.ts';
import { AttemptTimers, type LimitedAttempt } from './attempt-timers.ts';
import { DestinationChooser } from './destination-chooser.ts';
import { discardResponse } from './discarded-response.ts';
import { EndpointChooser } from './endpoint-chooser.ts';
import type { ForwardPlan } from './forward-plan.ts';
import { InFlightPermit } from './in-flight-permit.ts';
import { BodyDrain } from './mirror/body-drain.ts';
import { type Mirrors, startMirrors } from './mirror/mirrors.ts';
import { OutgoingRequest } from './outgoing-request.ts';
import { RetryState } from './retry-state.ts';
import { Sessions } from './sessions.ts';
import type { Share } from './share.ts';

/**
 * `choosing`: waits for a store. `waiting`: for a connection. `sent`: for a response head. `pausing`: before a retry.
 * `responding`: the response's body is passing. `failing`: until the mirror has the body.
 */
type Phase = 'idle' | 'choosing' | 'waiting' | 'sent' | 'pausing' | 'responding' | 'failing';

export class Forwarding extends Timed implements ActionRun, LimitedAttempt, PoolCallbacks, ResponseReceiver {
  readonly #exchange: ActionExchange;
  readonly #outgoing: OutgoingRequest;
  readonly #sessions: Sessions;
  readonly #destinations: DestinationChooser;
  readonly #endpoints: EndpointChooser;
  readonly #permit = new InFlightPermit();
  readonly #retryState: RetryState;
  readonly #timers: AttemptTimers;
  #phase: Phase = 'idle';
  #plan: ForwardPlan | undefined;
  #share: Share | undefined;
  #upstream: Upstream | undefined;
  #endpoint: Endpoint | undefined;
  #stream: UpstreamStream | undefined;
  #mirrors: Mirrors | undefined;
  #rest: BodyDrain | undefined;
  #cancelPause: Cancel | undefined;
  /** Number of choices: a result of the store for an earlier one is late. */
  #choice = 0;

  constructor(exchange: ActionExchange) {
    super();
    this.#exchange = exchange;
    this.#outgoing = new OutgoingRequest(exchange);
    this.#sessions = new Sessions(exchange.request);
    this.#destinations = new DestinationChooser(this.#sessions);
    this.#endpoints = new EndpointChooser(this.#sessions);
    this.#retryState = new RetryState(exchange, this.#permit);
    this.#timers = new AttemptTimers(exchange.wheel, this, exchange.downstream.response);
  }

  begin(plan: ForwardPlan): void {
    this.#plan = plan;
    this.#retryState.begin(plan.retry);
    const exchange = this.#exchange;
    const { upstreams } = exchange;
    const { sessions: store } = upstreams;
    if (!this.#destinations.usesStore(plan, store)) {
      this.#enter(this.#destinations.choose(plan, upstreams), upstreams);
      return;
    }
    this.#phase = 'choosing';
    const turn = ++this.#choice;
    this.#destinations.chooseByStore(plan, upstreams, store, (share) => {
      if (turn !== this.#choice) return;
      this.#enter(share, upstreams);
      exchange.downstream.response.flush();
    });
  }

  get client(): ClientEnds | undefined {
    return this.#exchange.request.sender().connection;
  }

  cancel(): void {
    const stream = this.#stream;
    this.#leavePool();
    this.#mirrors?.onRestLost();
    this.over();
    stream?.destroy(this);
  }

  over(): void {
    this.#choice++;
    this.#phase = 'idle';
    this.#plan = undefined;
    this.#share = undefined;
    this.#upstream = undefined;
    this.#endpoint = undefined;
    this.#stream = undefined;
    this.#exchange.wheel.disarm(this);
    this.#timers.end();
    this.#cancelPause?.();
    this.#cancelPause = undefined;
    this.#permit.leave();
    this.#retryState.clear();
    this.#sessions.clear();
    this.#endpoints.clear();
    this.#rest?.close();
    this.#rest = undefined;
    this.#mirrors?.primaryOver();
    this.#mirrors = undefined;
  }

  override onDeadline(): void {
    if (this.#rest !== undefined) this.#rest.giveUp();
    else this.#timeOut('the request budget is spent');
  }

  #timeOut(message: string): void {
    const stream = this.#stream;
    if (this.#phase === 'waiting' || this.#phase === 'sent') this.#observe(504);
    this.#leavePool();
    this.#stream = undefined;
    this.#fail('timeout', message);
    stream?.destroy(this);
  }

  onAttemptLimit(): void {
    const stream = this.#stream;
    this.#leavePool();
    this.#choice++;
    this.#stream = undefined;
    this.#attemptFailed('timeout', noResponse);
    stream?.destroy(this);
    this.#exchange.downstream.response.flush();
  }

  onWholeLimit(): void {
    if (this.#phase !== 'responding') {
      this.onAttemptLimit();
      return;
    }
    this.#timeOut(noResponse);
    this.#exchange.downstream.response.flush();
  }

  onConnection(stream: UpstreamStream): void {
    const exchange = this.#exchange;
    const upstream = this.#upstream;
    if (upstream === undefined) return;
    this.#phase = 'sent';
    this.#stream = stream;
    exchange.connectMs = exchange.nowMs - exchange.attemptMs;
    const outgoing = this.#outgoing;
    outgoing.takeBody();
    if (outgoing.bodyKind === 'none') {
      stream.send(this, outgoing);
      return;
    }
    const source = this.#retryState.body(upstream.pool.protocol.reportsUnprocessed, stream.reused);
    const body = this.#mirrors?.tee(source) ?? source;
    stream.send(this, outgoing);
    if (outgoing.expectContinue) this.#timers.expectContinue(upstream.expectContinueMs);
    pump(body, stream);
    stream.flush();
  }

  onNoConnection(type: ProxyErrorType, message: string): void {
    // No endpoint was called: the failure does not count for the endpoint, and a retry would only wait again.
    if (type === 'circuit_open') this.#fail(type, message);
    else this.#attemptFailed(type, message);
    this.#exchange.downstream.response.flush();
  }

  onInterim(head: ResponseHead): void {
    this.#exchange.downstream.response.interim(head);
  }

  onResponse(head: ResponseHead, body: BodySource): void {
    const exchange = this.#exchange;
    this.#observe(head.status);
    this.#timers.onHead();
    if (this.#retryState.isDueAfter(head, this.#upstream)) {
      const stream = this.#stream;
      this.#stream = undefined;
      this.#timers.end();
      exchange.trace?.endAttempt(head.status, '');
      // A connection that is still sending the request cannot be reused.
      if (!this.#retryState.bodySent) stream?.destroy(this);
      else if (stream !== undefined) discardResponse(stream, this, head, body, exchange.wheel);
      this.#retrySoon();
      return;
    }
    this.#phase = 'responding';
    this.#retryState.settle();
    exchange.trace?.responded(head.status);
    this.#conclude(head.status >= 500 ? 'failure' : 'success');
    exchange.upstreamMs = exchange.nowMs - exchange.attemptMs;
    this.#sessions.setOn(exchange.response.edits);
    if (this.#plan?.headers !== undefined || this.#share?.edits !== undefined) this.#editResponse();
    exchange.relay(head, this.#mirrors?.observed(head, body, exchange.upstreamMs) ?? body);
  }

  onUpgrade(head: ResponseHead, socket: TunnelEnd, rest: Buffer): void {
    const exchange = this.#exchange;
    this.#observe(head.status);
    exchange.trace?.responded(head.status);
    this.#conclude('success');
    exchange.upstreamMs = exchange.nowMs - exchange.attemptMs;
    // The connection stays in flight for as long as the tunnel.
    const release = this.#permit.detach();
    socket.once('close', release);
    this.#sessions.setOn(exchange.response.edits);
    if (this.#plan?.headers !== undefined || this.#share?.edits !== undefined) this.#editResponse();
    this.over();
    exchange.switch(head, socket, rest);
  }

  onFailure(type: ProxyErrorType, untouched: boolean, message: string, refused = false): void {
    this.#stream = undefined;
    if (refused && this.#retryState.mayTryElsewhere()) this.#tryElsewhere();
    else if (untouched && this.#retryState.mayRepeat()) this.#repeat();
    else this.#attemptFailed(type, message);
  }

  onSettled(): void {
    this.#exchange.downstream.response.flush();
  }

  #enter(share: Share | undefined, upstreams: Upstreams): void {
    const exchange = this.#exchange;
    const plan = this.#plan;
    if (plan === undefined) return;
    const upstream = share && upstreams.get(share.destinationId);
    if (share === undefined || upstream === undefined) {
      this.#endWithoutUpstream(plan, share);
      return;
    }
    exchange.destinationId = upstream.id;
    if (!this.#permit.enter(upstream.breaker)) {
      this.#fail('circuit_open', undefined);
      return;
    }
    this.#share = share;
    this.#upstream = upstream;
    this.#outgoing.write(plan, upstream);
    const budgetMs = plan.budgetMs ?? upstream.requestMs;
    if (budgetMs > 0) exchange.wheel.arm(this, budgetMs);
    if (plan.mirrors !== undefined) this.#mirrors = startMirrors(plan.mirrors, plan, this.#outgoing, exchange);
    if (share.edits !== undefined) this.#outgoing.edit(plan, share.edits, upstream);
    this.#tryOnce(upstream);
  }

  /** Ends with the fixed answer of the share, or refuses a request that no destination can take. */
  #endWithoutUpstream({ choice }: ForwardPlan, share: Share | undefined): void {
    const exchange = this.#exchange;
    if (share?.answer !== undefined) {
      const fields = this.#sessions.fields();
      this.over();
      share.answer.replyWith(exchange, fields);
      return;
    }
    const type = choice.failover ? choice.whyNone(exchange.upstreams) : 'destination_unavailable';
    this.over();
    exchange.fail(proxyError(type, { destination: share?.destinationId }));
  }

  #tryOnce(upstream: Upstream): void {
    const exchange = this.#exchange;
    const plan = this.#plan;
    if (plan === undefined) return;
    this.#phase = 'choosing';
    if (!upstream.available) {
      this.#failWithoutEndpoint(upstream);
      return;
    }
    exchange.attemptMs = exchange.nowMs;
    exchange.connectMs = -1;
    exchange.attempts++;
    this.#outgoing.attempt = plan.attemptCount ? exchange.attempts : 0;
    const { perAttemptMs } = this.#retryState;
    if (perAttemptMs > 0) this.#timers.limit(perAttemptMs);
    if (plan.perAttemptMs > 0) this.#timers.limitWhole(plan.perAttemptMs);
    const { sessions: store } = exchange.upstreams;
    if (!this.#endpoints.usesStore(upstream, store)) {
      this.#send(plan, upstream, this.#endpoints.choose(upstream, exchange.upstreams));
      return;
    }
    const turn = ++this.#choice;
    this.#endpoints.chooseByStore(upstream, store, (endpoint) => {
      if (turn !== this.#choice) return;
      this.#send(plan, upstream, endpoint);
      exchange.downstream.response.flush();
    });
  }

  #send(plan: ForwardPlan, upstream: Upstream, endpoint: Endpoint | undefined): void {
    if (endpoint === undefined) {
      this.#failWithoutEndpoint(upstream);
      return;
    }
    this.#phase = 'waiting';
    this.#endpoint = endpoint;
    this.#exchange.onEndpoint(upstream.id, endpoint.label);
    if (this.#exchange.trace === undefined) this.#outgoing.trace = undefined;
    else this.#outgoing.beginTrace(plan, upstream, this.#exchange.trace, endpoint.label);
    this.#permit.enterEndpoint(endpoint);
    upstream.pool.take(endpoint.pool, this);
  }

  /** Changes the response as the share and the route say. */
  #editResponse(): void {
    const exchange = this.#exchange;
    this.#share?.edits?.headers?.onResponse?.(exchange, 0);
    this.#plan?.headers?.onResponse?.(exchange, 0);
  }

  #failWithoutEndpoint({ isEmpty }: Upstream): void {
    const refusesShare = this.#plan?.choice.failover === false;
    this.#fail(refusesShare || isEmpty ? 'destination_unavailable' : 'no_endpoint', undefined);
  }

  /** Handles an attempt that ended without a response. */
  #attemptFailed(type: ProxyErrorType, message: string): void {
    this.#exchange.trace?.endAttempt(0, type);
    this.#observe(type === 'timeout' ? 504 : 502);
    this.#timers.end();
    if (!this.#outgoing.overdue && this.#retryState.isDueAfterFailure(this.#upstream)) this.#retrySoon();
    else this.#fail(type, message);
  }

  #retrySoon(): void {
    const { clock } = this.#exchange;
    const upstream = this.#upstream;
    if (upstream === undefined) return;
    this.#phase = 'pausing';
    const ms = this.#retryState.countRetry();
    this.#leaveEndpoint();
    this.#cancelPause = clock.after(ms, () => {
      this.#cancelPause = undefined;
      this.#tryOnce(upstream);
      this.#exchange.downstream.response.flush();
    });
  }

  #repeat(): void {
    const endpoint = this.#endpoint;
    const upstream = this.#upstream;
    if (endpoint === undefined || upstream === undefined) return;
    this.#phase = 'waiting';
    this.#rewind();
    // The other idle connections are as old, and as likely to be closed.
    endpoint.pool.closeIdle();
    upstream.pool.take(endpoint.pool, this);
  }

  #tryElsewhere(): void {
    const upstream = this.#upstream;
    if (upstream === undefined) return;
    this.#exchange.trace?.endAttempt(0, 'refused');
    this.#timers.end();
    this.#leaveEndpoint();
    this.#tryOnce(upstream);
  }

  /** Prepares the next attempt: another choice, and the body from its beginning. */
  #leaveEndpoint(): void {
    this.#endpoints.tried(this.#endpoint);
    this.#permit.leaveEndpoint();
    this.#endpoint = undefined;
    this.#rewind();
  }

  /** Makes the next attempt send the body from its beginning. */
  #rewind(): void {
    this.#retryState.rewind();
    this.#mirrors?.rewind();
  }

  #fail(type: ProxyErrorType, message: string | undefined): void {
    const exchange = this.#exchange;
    // The absence of an endpoint does not concern the one tried before.
    const endpoint = hasNoEndpoint(type) ? undefined : exchange.endpoint || undefined;
    const place = { destination: exchange.destinationId, endpoint };
    if (type === 'circuit_open' && exchange.attempts < 2) exchange.onNothingSent();
    exchange.trace?.endAttempt(0, type);
    // Refusals of Sluice's own do not count for the destination.
    this.#conclude(type === 'circuit_open' || hasNoEndpoint(type) ? 'unknown' : 'failure');
    const mirrors = this.#mirrors;
    const heldBack = exchange.request.expectContinue && exchange.bodyUntouched;
    const fail = (): void => {
      this.over();
      exchange.fail(proxyError(type, place, message));
      exchange.downstream.response.flush();
    };
    if (mirrors?.wantsRest !== true || heldBack) fail();
    else this.#failWithRest(mirrors, fail);
  }

  /** Fails after the mirror has got the whole body, which no other consumer reads. */
  #failWithRest(mirrors: Mirrors, fail: () => void): void {
    this.#phase = 'failing';
    this.#timers.end();
    this.#permit.leave();
    this.#retryState.settle();
    this.#rest = new BodyDrain(this.#exchange.wheel, mirrors, fail);
    this.#rest.read(mirrors.tee(this.#retryState.body(false, false)));
  }

  #conclude(outcome: ExchangeResult): void {
    this.#permit.conclude(outcome);
  }

  #observe(status: number): void {
    const endpoint = this.#endpoint;
    if (endpoint !== undefined) this.#upstream?.group.outlier.observe(endpoint.state, status);
  }

  #leavePool(): void {
    if (this.#phase === 'waiting' && this.#endpoint !== undefined) {
      this.#upstream?.pool.cancel(this.#endpoint.pool, this);
    }
  }
}

const hasNoEndpoint = (type: ProxyErrorType): boolean => type === 'no_endpoint' || type === 'destination_unavailable';

const noResponse = 'no response to this try in time';
