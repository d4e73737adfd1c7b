// Time limit of a client for taking a response (contract.md §2.2): from its first byte to its last where the listener
// sets a limit, otherwise as long as the client takes some of the pending bytes. The same holds for all bytes pending
// behind the end of a response, of any part of Sluice: a response is over when the kernel has taken its last byte.
import { Deadline } from '../wheel.ts';
import type { ExchangeContext } from './exchange-context.ts';

export class ResponseLimit {
  readonly #context: ExchangeContext;
  readonly #unsentBytes: () => number;
  readonly #onOverdue: () => void;
  readonly #deadline: Deadline;
  /** Unsent bytes at the last look at the client. */
  #unsent = 0;
  /** True while a response has begun and is not whole. */
  #underWay = false;

  /**
   * `unsentBytes`: written, and not taken by the client. `onOverdue`: called when the client has taken nothing, or
   * not all, for too long.
   */
  constructor(context: ExchangeContext, unsentBytes: () => number, onOverdue: () => void) {
    this.#context = context;
    this.#unsentBytes = unsentBytes;
    this.#onOverdue = onOverdue;
    this.#deadline = new Deadline(() => this.#onDeadline());
  }

  /** Begins a response whose head has left. `clientResponseMs`: the listener's, 0 = none. */
  begin(clientResponseMs: number): void {
    this.#underWay = true;
    if (clientResponseMs > 0) this.#context.wheel.arm(this.#deadline, clientResponseMs);
  }

  /** Called when the client takes nothing for the moment. */
  onBlocked(): void {
    const { clientResponseMs, clientStallMs } = this.#context.settings();
    if (clientResponseMs === 0) this.#arm(clientStallMs);
  }

  /** Called for each write that the client does not take at once. */
  onUnsent(): void {
    if (this.#deadline.armed) return;
    const { clientResponseMs, clientStallMs } = this.#context.settings();
    this.#arm(clientResponseMs === 0 ? clientStallMs : clientResponseMs);
  }

  /** Called when the client has taken all pending bytes. */
  onRoom(): void {
    if (!this.#underWay || this.#context.settings().clientResponseMs === 0) this.#context.wheel.disarm(this.#deadline);
  }

  /** Ends a response; another may follow. `unsent`: the client has not taken all of it. */
  end(unsent: boolean): void {
    this.#underWay = false;
    if (unsent) this.onUnsent();
    else this.#context.wheel.disarm(this.#deadline);
  }

  /** Ends the limit: no response follows. */
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
