// A clock that stands still until a test moves it.
import type { Cancel, Clock } from '../../src/util/clock.ts';

export class ManualClock implements Clock {
  #now: number;
  /** Wall clock less monotonic time. */
  #ahead = 0;
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>();

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now;
  }

  nowMs(): number {
    return this.#now + this.#ahead;
  }

  monotonicMs(): number {
    return this.#now;
  }

  after(delayMs: number, run: () => void): Cancel {
    const timer = { at: this.#now + delayMs, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Timers that have neither run nor been cancelled. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Sets the wall clock; no time passes. */
  step(ms: number): void {
    this.#ahead += ms;
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const timer of [...this.#timers].sort((a, b) => a.at - b.at)) {
      if (timer.at <= this.#now && this.#timers.delete(timer)) timer.run();
    }
  }
}
