// In-flight permit of one exchange: its share of the counts of the destination's breaker, of its endpoint, and of the
// retries. Each is acquired and released once.
import type { Admission, CircuitBreaker, ExchangeResult } from '../upstream/circuit-breaker.ts';
import type { Endpoint } from '../upstream/endpoint-group.ts';

export class InFlightPermit {
  #breaker: CircuitBreaker | undefined;
  #admission: Admission = 'refused';
  #endpoint: Endpoint | undefined;
  #retrying = false;
  #concluded = false;

  /** Acquires; returns false when the circuit is open, or too many requests are in flight. */
  enter(breaker: CircuitBreaker): boolean {
    this.#admission = breaker.admit();
    if (this.#admission === 'refused') return false;
    this.#breaker = breaker;
    this.#concluded = false;
    return true;
  }

  enterEndpoint(endpoint: Endpoint): void {
    this.leaveEndpoint();
    this.#endpoint = endpoint;
    endpoint.state.enter();
  }

  leaveEndpoint(): void {
    this.#endpoint?.state.leave();
    this.#endpoint = undefined;
  }

  /** Counts the exchange as one retry, from its first retry until its outcome is known. */
  enterRetry(budgetPercent: number): boolean {
    if (this.#retrying) return true;
    this.#retrying = this.#breaker?.admitRetry(budgetPercent) === true;
    return this.#retrying;
  }

  /** Reports the outcome once; later ones do not count. */
  conclude(outcome: ExchangeResult): void {
    const breaker = this.#breaker;
    if (breaker === undefined || this.#concluded) return;
    this.#concluded = true;
    if (this.#retrying) breaker.leaveRetry();
    this.#retrying = false;
    breaker.conclude(this.#admission, outcome);
  }

  /** Releases all: the exchange is over. */
  leave(): void {
    const breaker = this.#breaker;
    if (breaker === undefined) return;
    this.conclude('unknown');
    this.leaveEndpoint();
    this.#breaker = undefined;
    breaker.leave();
  }

  /** Detaches the permit from the exchange; the caller releases it by calling the returned function once. */
  detach(): () => void {
    const [breaker, endpoint] = [this.#breaker, this.#endpoint];
    this.conclude('unknown');
    this.#breaker = undefined;
    this.#endpoint = undefined;
    return () => {
      endpoint?.state.leave();
      breaker?.leave();
    };
  }
}
