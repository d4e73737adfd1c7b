// Waiters until this node has applied an index: reads after a write on another node, `?minRevision=`.

import { SluiceError } from '../../errors.ts';
import type { Cancel, Clock } from '../../util/clock.ts';

interface Waiter {
  readonly index: number;
  readonly resolve: () => void;
  readonly reject: (error: SluiceError) => void;
  readonly cancelDeadline: Cancel;
}

const waitersMax = 10_000;

export class AppliedWaiters {
  readonly #clock: Clock;
  readonly #waiters = new Set<Waiter>();
  #applied: number;

  constructor(clock: Clock, applied: number) {
    this.#clock = clock;
    this.#applied = applied;
  }

  get applied(): number {
    return this.#applied;
  }

  wait(index: number, withinMs: number): Promise<void> {
    if (index <= this.#applied) return Promise.resolve();
    return new Promise((resolve, reject) => {
      if (this.#waiters.size >= waitersMax) return reject(late('too many requests wait for an index'));
      const cancelDeadline = this.#clock.after(withinMs, () => {
        this.#waiters.delete(waiter);
        reject(late(`index ${index} is not applied here yet; this node is at ${this.#applied}`));
      });
      const waiter: Waiter = { index, resolve, reject, cancelDeadline };
      this.#waiters.add(waiter);
    });
  }

  advance(applied: number): void {
    this.#applied = applied;
    for (const waiter of this.#waiters) if (waiter.index <= applied) this.#end(waiter).resolve();
  }

  fail(error: SluiceError): void {
    for (const waiter of this.#waiters) this.#end(waiter).reject(error);
  }

  #end(waiter: Waiter): Waiter {
    this.#waiters.delete(waiter);
    waiter.cancelDeadline();
    return waiter;
  }
}

const late = (message: string): SluiceError => new SluiceError('UNAVAILABLE', message);
