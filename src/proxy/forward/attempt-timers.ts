// Times that run while one try is under way: how long it may take, and how long an upstream may keep silent to
// `Expect: 100-continue` before it gets the body all the same (contract.md §2.3.2).
import type { DownstreamResponse } from '../exchange/downstream.ts';
import { Deadline, type Wheel } from '../wheel.ts';

export interface LimitedAttempt {
  /** This try has taken too long. */
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

  /** The client waits for 100, and so does the head that was sent upstream. */
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
