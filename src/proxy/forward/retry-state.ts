// Retry state: whether one request may be sent once more, and its body with it. There are three reasons, each with
// its own bound: the route's retry policy (contract.md §7.4), a connection that was closed while idle (RFC 9110
// §9.2.2), an upstream that reports the request as not processed (RFC 9113 §8.7).
import type { ActionExchange } from '../exchange/entry.ts';
import type { HeldBody } from '../exchange/held-body.ts';
import type { BodySource } from '../message/body.ts';
import type { ResponseHead } from '../message/response.ts';
import type { InFlightPermit } from './in-flight-permit.ts';
import { backoffMs, isWorthRetrying, type RetryPlan } from './retry-policy.ts';

type Askable = { readonly available: boolean } | undefined;

export class RetryState {
  readonly #exchange: ActionExchange;
  readonly #permit: InFlightPermit;
  #policy: RetryPlan | undefined;
  /** Retries by the policy. */
  #retries = 0;
  /** True when this attempt has been repeated on another connection, because the first had been closed while idle. */
  #repeated = false;
  /** Number of refusals by an upstream that did not process the request. */
  #refusals = 0;
  /** Body, where it may have to be sent again: that of the first attempt for all others. */
  #held: HeldBody | undefined;

  constructor(exchange: ActionExchange, admitted: InFlightPermit) {
    this.#exchange = exchange;
    this.#permit = admitted;
  }

  begin(policy: RetryPlan | undefined): void {
    this.#policy = policy;
    this.#retries = 0;
    this.#repeated = false;
    this.#refusals = 0;
  }

  clear(): void {
    this.#policy = undefined;
    this.#held = undefined;
  }

  /** Limit of one attempt in milliseconds; 0 = none. */
  get perAttemptMs(): number {
    return this.#policy?.perAttemptMs ?? 0;
  }

  /** True when the whole body has gone to the upstream. */
  get bodySent(): boolean {
    return this.#exchange.bodyKind === 'none' || this.#held?.whole === true;
  }

  /**
   * Returns the body for the upstream; held where another attempt is possible. `mayBeClosed`: the upstream may have
   * closed the connection while it was idle.
   */
  body(mayBeRefused: boolean, mayBeClosed: boolean): BodySource {
    const exchange = this.#exchange;
    const { method, upgrade } = exchange.request;
    const mayRepeat = mayBeClosed && idempotent.has(method);
    const again = this.#held !== undefined || this.#policy !== undefined || mayBeRefused || mayRepeat;
    if (!again || upgrade !== '') return exchange.requestBody();
    if (this.#held === undefined) {
      this.#held = exchange.heldRequestBody();
      this.#held.keep(exchange.retryBytesMax);
    } else if (exchange.request.expectContinue) exchange.downstream.response.continue();
    return this.#held;
  }

  /** Releases the held body: there is no other attempt. */
  settle(): void {
    this.#held?.release();
  }

  /**
   * Returns whether the policy asks for a retry after this response, and it may begin. Without another endpoint, this
   * is the last result.
   */
  isDueAfter(head: ResponseHead, upstream: Askable): boolean {
    const policy = this.#policy;
    return policy !== undefined && isWorthRetrying(policy, head) && this.#mayRetry(policy, upstream);
  }

  /** The same after an attempt without a response. */
  isDueAfterFailure(upstream: Askable): boolean {
    const policy = this.#policy;
    return policy?.onConnectionFailure === true && this.#mayRetry(policy, upstream);
  }

  /** Counts the retry that is due; returns the milliseconds until it begins. */
  countRetry(): number {
    const policy = this.#policy;
    if (policy === undefined) return 0;
    this.#exchange.onRetry(++this.#retries);
    this.#repeated = false;
    return backoffMs(this.#retries, policy.backoffBaseMs, policy.backoffMaxMs, Math.random);
  }

  /**
   * Returns whether to repeat on another connection: one that was closed while idle says nothing about the request,
   * if a repetition is harmless. True once.
   */
  mayRepeat(): boolean {
    if (this.#repeated || !idempotent.has(this.#exchange.request.method) || !this.#canReplay) return false;
    this.#repeated = true;
    return true;
  }

  /**
   * Returns whether to retry a request that the upstream did not process: it is harmless for any method. True a few
   * times.
   */
  mayTryElsewhere(): boolean {
    if (this.#refusals >= refusalsMax) return false;
    if (!this.#canReplay) return false;
    this.#refusals++;
    return true;
  }

  /** Makes the next attempt send the body from its beginning. */
  rewind(): void {
    this.#held?.rewind();
  }

  get #canReplay(): boolean {
    return this.#exchange.bodyKind === 'none' || this.#held?.replayable === true;
  }

  #mayRetry({ attempts, budgetPercent }: RetryPlan, upstream: Askable): boolean {
    const { request, bodyKind } = this.#exchange;
    if (this.#retries >= attempts || request.upgrade !== '' || upstream?.available !== true) return false;
    if (bodyKind !== 'none' && this.#held?.replayable === false) return false;
    return this.#permit.enterRetry(budgetPercent);
  }
}

/** Upstreams of HTTP/2 refuse requests beyond their room, or during their end: neither lasts. */
const refusalsMax = 3;

/** Idempotent methods (RFC 9110 §9.2.2), and the safe ones of RFC 4918 §9.1, RFC 3253 §3.6, RFC 5323 §2 and QUERY. */
const idempotent: ReadonlySet<string> = new Set([
  ...['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE'],
  ...['PROPFIND', 'REPORT', 'SEARCH', 'QUERY'],
]);
