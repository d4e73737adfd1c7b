// Turns on libuv's thread pool: coders of one worker occupy a bounded part of it, because the log's fsync and look-ups of
// names use the same threads. Turns are given in the order in which they were asked for.

/** Holder of a turn, or the next to get one. */
export interface TurnTaker {
  onTurn(): void;
}

export class PoolTurns {
  #free: number;
  readonly #waiting = new Set<TurnTaker>();

  constructor(turns: number) {
    this.#free = turns;
  }

  /** Calls `onTurn` when the taker has a turn, possibly before this returns. */
  take(taker: TurnTaker): void {
    if (this.#free === 0) {
      this.#waiting.add(taker);
      return;
    }
    this.#free--;
    taker.onTurn();
  }

  /** Ends a turn; the next taker gets it. */
  release(): void {
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      next.onTurn();
      return;
    }
    this.#free++;
  }

  /** Removes a taker that has no turn yet. */
  cancel(taker: TurnTaker): void {
    this.#waiting.delete(taker);
  }
}
