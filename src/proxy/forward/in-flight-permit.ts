// What one exchange holds of the shared counts: its place at the destination's breaker, at its endpoint, and perhaps
// among the retries. Whatever is taken is given back once.
import type { BreakerVerdict, CircuitBreaker, Outcome } from '../upstream/circuit-breaker.ts';
import type { Endpoint } from '../upstream/endpoint-group.ts';

export class Admitted {
  #breaker: CircuitBreaker | undefined;
  #admission: BreakerVerdict = 'refused';
  #endpoint: Endpoint | undefined;
  #retrying = false;
  #concluded = false;

  /** False: the circuit is open, or too much is under way. */
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

  /** An exchange counts as one retry from its first on, until it is known how it went. */
  enterRetry(budgetPercent: number): boolean {
    if (this.#retrying) return true;
    this.#retrying = this.#breaker?.admitRetry(budgetPercent) === true;
    return this.#retrying;
  }

  /** Told once; later outcomes do not count. */
  conclude(outcome: Outcome): void {
    const breaker = this.#breaker;
    if (breaker === undefined || this.#concluded) return;
    this.#concluded = true;
    if (this.#retrying) breaker.leaveRetry();
    this.#retrying = false;
    breaker.conclude(this.#admission, outcome);
  }

  /** The exchange is over. */
  leave(): void {
    const breaker = this.#breaker;
    if (breaker === undefined) return;
    this.conclude('unknown');
    this.leaveEndpoint();
    this.#breaker = undefined;
    breaker.leave();
  }

  /** The exchange lets go of what it holds; whoever calls what this gives, once, gives it back. */
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
