// Time that a client may take for a response (contract.md §2.2): from its first byte to its last where the listener says
// how long, else as long as it takes some of what waits for it. The same counts for all that waits behind the end of a
// response, whichever part of Sluice made it: a response is over when the system has taken its last byte.
import { Deadline } from '../wheel.ts';
import type { ExchangeContext } from './context.ts';

export class ResponseLimit {
  readonly #context: ExchangeContext;
  readonly #unsentBytes: () => number;
  readonly #onOverdue: () => void;
  readonly #deadline: Deadline;
  /** What was unsent when the client was looked at last. */
  #unsent = 0;
  /** A response has begun that is not whole. */
  #underWay = false;

  /** `unsentBytes`: written, and not taken by the client. `onOverdue`: it has taken nothing, or not all, for too long. */
  constructor(context: ExchangeContext, unsentBytes: () => number, onOverdue: () => void) {
    this.#context = context;
    this.#unsentBytes = unsentBytes;
    this.#onOverdue = onOverdue;
    this.#deadline = new Deadline(() => this.#onDeadline());
  }

  /** The head has left. `clientResponseMs`: the listener's, 0 = it does not say. */
  begin(clientResponseMs: number): void {
    this.#underWay = true;
    if (clientResponseMs > 0) this.#context.wheel.arm(this.#deadline, clientResponseMs);
  }

  /** The client takes nothing at the moment. */
  onBlocked(): void {
    const { clientResponseMs, clientStallMs } = this.#context.settings();
    if (clientResponseMs === 0) this.#arm(clientStallMs);
  }

  /** Something was written that the client does not take at once; told again for each such write. */
  onUnsent(): void {
    if (this.#deadline.armed) return;
    const { clientResponseMs, clientStallMs } = this.#context.settings();
    this.#arm(clientResponseMs === 0 ? clientStallMs : clientResponseMs);
  }

  /** The client has taken what waited. */
  onRoom(): void {
    if (!this.#underWay || this.#context.settings().clientResponseMs === 0) this.#context.wheel.disarm(this.#deadline);
  }

  /** The response is whole; another may follow. `unsent`: the client has not taken all of it. */
  end(unsent: boolean): void {
    this.#underWay = false;
    if (unsent) this.onUnsent();
    else this.#context.wheel.disarm(this.#deadline);
  }

  /** None follows. */
  close(): void {
    this.#underWay = false;
    this.#context.wheel.remove(this.#deadline);
  }

  #arm(ms: number): void {
    if (ms === 0) return;
    this.#unsent = this.#unsentBytes();
    this.#context.wheel.arm(this.#deadline, ms);
  }

  #onDeadline(): void {
    const { clientResponseMs, clientStallMs } = this.#context.settings();
    if (clientResponseMs === 0 && this.#unsentBytes() < this.#unsent) this.#arm(clientStallMs);
    else this.#onOverdue();
  }
}
