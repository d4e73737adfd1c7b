// Timers of one attempt: its time limits, to the head and to the end of the response, and the time that an upstream may leave `Expect: 100-continue` unanswered
// before it gets the body (contract.md §2.3.2).
import type { DownstreamResponse } from '../exchange/downstream.ts';
import { Deadline, type Wheel } from '../wheel.ts';

export interface LimitedAttempt {
  /** Called when the attempt has taken too long. */
  onAttemptLimit(): void;
  /** Called when the attempt and its whole response have taken too long. */
  onWholeLimit(): void;
}

export class AttemptTimers {
  readonly #wheel: Wheel;
  readonly #attempt: LimitedAttempt;
  readonly #response: DownstreamResponse;
  #limit: Deadline | undefined;
  #whole: Deadline | undefined;
  #expectation: Deadline | undefined;

  constructor(wheel: Wheel, attempt: LimitedAttempt, response: DownstreamResponse) {
    this.#wheel = wheel;
    this.#attempt = attempt;
    this.#response = response;
  }

  limit(ms: number): void {
    this.#limit ??= new Deadline(() => this.#attempt.onAttemptLimit());
    this.#wheel.arm(this.#limit, ms);
  }

  /** Starts the limit that goes on with the response. */
  limitWhole(ms: number): void {
    this.#whole ??= new Deadline(() => this.#attempt.onWholeLimit());
    this.#wheel.arm(this.#whole, ms);
  }

  /** Starts the wait for 100: the client waits for it, and the head has been sent upstream. */
  expectContinue(ms: number): void {
    if (ms <= 0) return;
    this.#expectation ??= new Deadline(() => this.#response.continue());
    this.#wheel.arm(this.#expectation, ms);
  }

  /** Ends all but the limit on the whole response. */
  onHead(): void {
    if (this.#limit !== undefined) this.#wheel.disarm(this.#limit);
    if (this.#expectation !== undefined) this.#wheel.disarm(this.#expectation);
  }

  end(): void {
    if (this.#whole !== undefined) this.#wheel.disarm(this.#whole);
    this.onHead();
  }
}
