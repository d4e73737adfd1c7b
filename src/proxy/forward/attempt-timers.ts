// Timers of one attempt: its time limit, and the time that an upstream may leave `Expect: 100-continue` unanswered
// before it gets the body (contract.md §2.3.2).
import type { DownstreamResponse } from '../exchange/downstream.ts';
import { Deadline, type Wheel } from '../wheel.ts';

export interface LimitedAttempt {
  /** Called when the attempt has taken too long. */
  onAttemptLimit(): void;
}

export class AttemptTimers {
  readonly #wheel: Wheel;
  readonly #attempt: LimitedAttempt;
  readonly #response: DownstreamResponse;
  #limit: Deadline | undefined;
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

  /** Starts the wait for 100: the client waits for it, and the head has been sent upstream. */
  expectContinue(ms: number): void {
    if (ms <= 0) return;
    this.#expectation = new Deadline(() => this.#response.continue());
    this.#wheel.arm(this.#expectation, ms);
  }

  end(): void {
    if (this.#limit !== undefined) this.#wheel.disarm(this.#limit);
    if (this.#expectation === undefined) return;
    this.#wheel.remove(this.#expectation);
    this.#expectation = undefined;
  }
}
