// Ticks of the protocol. After a stall missed ticks are not replayed: the node first takes the messages that arrived
// meanwhile, then counts one tick.
import type { Cancel, Clock } from './driver-clock.ts';

export interface TickerEvents {
  /** The loop stood still for so many ticks. */
  stalled(ticks: number): void;
  tick(now: number): void;
}

export class Ticker {
  readonly #clock: Clock;
  readonly #tickMs: number;
  readonly #stallTicks: number;
  readonly #events: TickerEvents;
  #last = 0;
  #cancel: Cancel | undefined;

  constructor(clock: Clock, tickMs: number, stallTicks: number, events: TickerEvents) {
    this.#clock = clock;
    this.#tickMs = tickMs;
    this.#stallTicks = stallTicks;
    this.#events = events;
  }

  start(): void {
    this.#last = this.#clock.monotonicMs();
    this.#wait();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #wait(): void {
    this.#cancel = this.#clock.after(this.#tickMs, () => this.#fire());
  }

  #fire(): void {
    const now = this.#clock.monotonicMs();
    const gap = (now - this.#last) / this.#tickMs;
    this.#last = now;
    this.#wait();
    if (gap <= this.#stallTicks) {
      this.#events.tick(now);
      return;
    }
    this.#events.stalled(Math.floor(gap));
    this.#clock.soon(() => this.#events.tick(now));
  }
}
