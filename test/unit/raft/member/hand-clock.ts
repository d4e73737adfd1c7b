// A clock that stands still until a test moves it.
import type { Clock } from '../../../../raft/driver/driver-clock.ts';

export class HandClock implements Clock {
  #now = 1_000_000;
  #timers: { readonly at: number; readonly run: () => void }[] = [];

  nowMs(): number {
    return this.#now;
  }

  monotonicMs(): number {
    return this.#now;
  }

  after(delayMs: number, run: () => void) {
    const timer = { at: this.#now + delayMs, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  }

  soon(run: () => void): void {
    this.after(0, run);
  }

  /** Timers that have neither run nor been cancelled. */
  get pending(): number {
    return this.#timers.length;
  }

  /** Runs what falls due, in order; promises that resolve in between have had their turn. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await Promise.resolve();
      const [next] = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#timers = this.#timers.filter((each) => each !== next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
    }
    this.#now = end;
  }

  /** Moves the time on without running timers: a process that was stopped. */
  jump(ms: number): void {
    this.#now += ms;
  }
}
