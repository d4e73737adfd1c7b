// Keeps requests away from a destination that fails or is full (contract.md §7.9). One circuit for all threads of the
// process: its state lives in the shared row of the destination, this is how a thread reads and changes it.
import type { Clock } from '../../util/clock.ts';
import {
  circuitClosed,
  circuitHalfOpen,
  circuitOpen,
  type DestinationState,
  unlimited,
} from '../shared/destination-state.ts';

export interface BreakerLimits {
  /** Exchanges at a time. */
  readonly activeMax: number;
  /** Requests that wait for a connection. */
  readonly waitingMax: number;
  readonly retriesMax: number;
  /** Failures in a row that open the circuit; 0: it never opens. */
  readonly failureThreshold: number;
  /** Milliseconds. */
  readonly openMs: number;
}

/** Limits of a destination without a breaker. */
export const noLimits: BreakerLimits = {
  activeMax: unlimited,
  waitingMax: 1_024,
  retriesMax: unlimited,
  failureThreshold: 0,
  openMs: 0,
};

/** `probe`: admitted, and everything depends on how it goes. */
export type Admission = 'refused' | 'admitted' | 'probe';

/** `unknown`: it is no evidence about the destination, as when the client has gone. */
export type ExchangeResult = 'success' | 'failure' | 'unknown';

export class CircuitBreaker {
  readonly limits: BreakerLimits;
  readonly #state: DestinationState;
  readonly #clock: Clock;

  constructor(state: DestinationState, limits: BreakerLimits, clock: Clock) {
    this.#state = state;
    this.limits = limits;
    this.#clock = clock;
  }

  /**
   * Admits an exchange or refuses it. Each one that is not refused calls `conclude` once, and then `leave` when it is
   * over.
   */
  admit(): Admission {
    if (!this.#state.enter(this.limits.activeMax)) return 'refused';
    const admission = this.limits.failureThreshold === 0 ? 'admitted' : this.#checkCircuit();
    if (admission === 'refused') this.#state.leave();
    return admission;
  }

  /** Records the result, which is known even while the body may still be on its way. */
  conclude(admission: Admission, outcome: ExchangeResult): void {
    if (admission === 'probe') this.#concludeProbe(outcome);
    else if (outcome !== 'unknown' && this.limits.failureThreshold > 0) this.#count(outcome);
  }

  leave(): void {
    this.#state.leave();
  }

  /** Returns whether one more retry may run, when `budgetPercent` of the exchanges under way may be retries. */
  admitRetry(budgetPercent: number): boolean {
    const budget = Math.max(retriesAlways, Math.floor((this.#state.active * budgetPercent) / 100));
    return this.#state.enterRetry(Math.min(this.limits.retriesMax, budget));
  }

  leaveRetry(): void {
    this.#state.leaveRetry();
  }

  countLostCopy(): void {
    this.#state.addLostCopy();
  }

  #checkCircuit(): Admission {
    const state = this.#state;
    for (;;) {
      const circuit = state.circuit;
      if (circuit === circuitClosed) return 'admitted';
      if (circuit === circuitOpen) {
        if (this.#clock.monotonicMs() < state.openUntilMs) return 'refused';
        state.turnCircuit(circuitOpen, circuitHalfOpen);
        continue;
      }
      if (!state.takeProbe()) return 'refused';
      // The probe before this one may have been concluded in between.
      if (state.circuit === circuitHalfOpen) return 'probe';
      state.giveProbeBack();
    }
  }

  #concludeProbe(outcome: ExchangeResult): void {
    const state = this.#state;
    if (outcome === 'success') {
      state.forgiveFailures();
      state.turnCircuit(circuitHalfOpen, circuitClosed);
    } else if (outcome === 'failure') this.#open(circuitHalfOpen);
    state.giveProbeBack();
  }

  /** Results that come while the circuit is not closed are too late to count. */
  #count(outcome: ExchangeResult): void {
    const state = this.#state;
    if (state.circuit !== circuitClosed) return;
    if (outcome === 'success') state.forgiveFailures();
    else if (state.addFailure() >= this.limits.failureThreshold) this.#open(circuitClosed);
  }

  #open(from: number): void {
    const state = this.#state;
    if (state.circuit !== from) return;
    state.openUntilMs = this.#clock.monotonicMs() + this.limits.openMs;
    state.turnCircuit(from, circuitOpen);
  }
}

/** Retries that no budget forbids (architecture.md §6.25). */
const retriesAlways = 3;
