// One decision that is waited for: no longer than the middleware allows, nor than the exchange lasts. What it came to for
// the client is kept until the response.
import type { HeldCount } from '../../exchange/held-body.ts';
import { type ExternalFailure, timedOut } from '../../external/external-failure.ts';
import type { AnswerWaiter } from '../../external/grpc-channel.ts';
import type { HeaderChange } from '../../external/header-change.ts';
import { Timed, type Wheel } from '../../wheel.ts';

const none: readonly HeaderChange[] = [];

export class AuthzCall extends Timed implements AnswerWaiter {
  onGivenUp: ((why: ExternalFailure) => void) | undefined;
  toClient: readonly HeaderChange[] = none;
  /** Count of the body that is shown; undefined: none is. */
  body: HeldCount | undefined;
  readonly #wheel: Wheel;
  #abort: AbortController | undefined;
  #settled = false;

  constructor(wheel: Wheel) {
    super();
    this.#wheel = wheel;
  }

  /** Signal for the request to the service; made on first use, since most do without. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    return this.#abort.signal;
  }

  /** 0 = for as long as it takes. */
  arm(ms: number): void {
    if (ms > 0) this.#wheel.arm(this, ms);
  }

  override onDeadline(): void {
    this.giveUp(timedOut);
  }

  /** Ends the call with a failure; without effect when there is an answer already. */
  giveUp(why: () => ExternalFailure): void {
    if (this.#settled) return;
    this.settle();
    const failure = why();
    this.onGivenUp?.(failure);
    this.#abort?.abort(failure);
  }

  /** Ends the wait: there is an answer, or the exchange does not need one any more. */
  settle(): void {
    this.#settled = true;
    this.#wheel.remove(this);
  }
}
