// How long a client may take for a response (contract.md §2.2): from its first byte to its last where the listener says
// how long, else as long as it takes some of what waits for it.
import { Deadline } from '../wheel.ts';
import type { ExchangeContext } from './context.ts';

export class ResponseLimit {
  readonly #context: ExchangeContext;
  readonly #deadline: Deadline;

  /** `onOverdue`: the client has taken nothing, or not all, for too long. */
  constructor(context: ExchangeContext, onOverdue: () => void) {
    this.#context = context;
    this.#deadline = new Deadline(onOverdue);
  }

  /** The head has left. `clientResponseMs`: the listener's, 0 = it does not say. */
  begin(clientResponseMs: number): void {
    if (clientResponseMs > 0) this.#context.wheel.arm(this.#deadline, clientResponseMs);
  }

  /** The client takes nothing at the moment. */
  onBlocked(): void {
    const { clientResponseMs, clientStallMs } = this.#context.settings();
    if (clientResponseMs === 0 && clientStallMs > 0) this.#context.wheel.arm(this.#deadline, clientStallMs);
  }

  /** It has taken what waited. */
  onRoom(): void {
    if (this.#context.settings().clientResponseMs === 0) this.end();
  }

  /** The response is whole; another may follow. */
  end(): void {
    this.#context.wheel.disarm(this.#deadline);
  }

  /** None follows. */
  close(): void {
    this.#context.wheel.remove(this.#deadline);
  }
}
