// Whether one request may be sent once more, and its body with it. There are three reasons, each with its own bound: the
// route's retry policy (contract.md §7.4), a connection that was closed while idle (RFC 9110 §9.2.2), an upstream that
// says that it did nothing with the request (RFC 9113 §8.7).
import type { ActionExchange } from '../exchange/entry.ts';
import type { HeldBody } from '../exchange/held-body.ts';
import type { BodySource } from '../message/body.ts';
import type { ResponseHead } from '../message/response.ts';
import type { Admitted } from './in-flight-permit.ts';
import { backoffMs, isWorthRetrying, type RetryPlan } from './retry-policy.ts';

type Askable = { readonly available: boolean } | undefined;

export class RetryState {
  readonly #exchange: ActionExchange;
  readonly #admitted: Admitted;
  #policy: RetryPlan | undefined;
  /** Retries that the policy asked for. */
  #retries = 0;
  /** This try has been sent on another connection already because the first had been closed while idle. */
  #repeated = false;
  /** How often an upstream has refused to do anything with it. */
  #refusals = 0;
  /** The body, where it may have to be sent again. */
  #held: HeldBody | undefined;

  constructor(exchange: ActionExchange, admitted: Admitted) {
    this.#exchange = exchange;
    this.#admitted = admitted;
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

  /** The limit of one try; 0 = none. */
  get perAttemptMs(): number {
    return this.#policy?.perAttemptMs ?? 0;
  }

  /** Of the body, all has gone to the upstream. */
  get bodySent(): boolean {
    return this.#exchange.bodyKind === 'none' || this.#held?.whole === true;
  }

  /** What the upstream is sent as body; held on to where there may be another try. */
  body(mayBeRefused: boolean): BodySource {
    const exchange = this.#exchange;
    const again = this.#policy !== undefined || mayBeRefused;
    if (!again || exchange.request.upgrade !== '') return exchange.requestBody();
    if (this.#held === undefined) {
      this.#held = exchange.heldRequestBody();
      this.#held.keep(exchange.retryBytesMax);
    } else if (exchange.request.expectContinue) exchange.downstream.response.continue();
    return this.#held;
  }

  /** There is no other try: what is held of the body is let go of. */
  settle(): void {
    this.#held?.release();
  }

  /** The policy wants another try after this response, and it may begin. With nobody left to ask, this is the last result. */
  isDueAfter(head: ResponseHead, upstream: Askable): boolean {
    const policy = this.#policy;
    return policy !== undefined && isWorthRetrying(policy, head) && this.#mayRetry(policy, upstream);
  }

  /** The same after a try without a response. */
  isDueAfterFailure(upstream: Askable): boolean {
    const policy = this.#policy;
    return policy?.onConnectionFailure === true && this.#mayRetry(policy, upstream);
  }

  /** Counts the retry that is due; gives the milliseconds until it begins. */
  countRetry(): number {
    const policy = this.#policy;
    if (policy === undefined) return 0;
    this.#exchange.onRetry(++this.#retries);
    this.#repeated = false;
    return backoffMs(this.#retries, policy.backoffBaseMs, policy.backoffMaxMs, Math.random);
  }

  /** A connection that was closed while idle says nothing about the request, if repeating it can do no harm. True once. */
  mayRepeat(): boolean {
    const { bodyKind, request } = this.#exchange;
    if (this.#repeated || bodyKind !== 'none' || !idempotent.has(request.method)) return false;
    this.#repeated = true;
    return true;
  }

  /** The upstream did nothing with the request: whatever it is, it does no harm to ask again. True a few times. */
  mayTryElsewhere(): boolean {
    if (this.#refusals >= refusalsMax) return false;
    if (this.#exchange.bodyKind !== 'none' && this.#held?.replayable !== true) return false;
    this.#refusals++;
    return true;
  }

  /** The next try is sent the body from its beginning. */
  rewind(): void {
    this.#held?.rewind();
  }

  #mayRetry({ attempts, budgetPercent }: RetryPlan, upstream: Askable): boolean {
    const { request, bodyKind } = this.#exchange;
    if (this.#retries >= attempts || request.upgrade !== '' || upstream?.available !== true) return false;
    if (bodyKind !== 'none' && this.#held?.replayable === false) return false;
    return this.#admitted.enterRetry(budgetPercent);
  }
}

/** Upstreams of HTTP/2 refuse what they have no room for, or what came while they were ending: not for ever. */
const refusalsMax = 3;

/** RFC 9110 §9.2.2. */
const idempotent: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE']);
