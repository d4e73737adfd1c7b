// Turns of the event loop, as the long work of a thread shares them: however many tasks run at a time, other work waits for
// the milliseconds of one turn. Tasks get their slices in the order in which they asked.

/** Clock and loop of a thread. */
export interface Loop {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Runs in the next turn of the loop. */
  readonly later: (run: () => void) => void;
}

interface Waiter {
  readonly ms: number;
  readonly begin: (endMs: number) => void;
}

/** Shortest slice in milliseconds, however many tasks run: without it none would end. */
const leastMs = 1;

export class LoopTurns {
  readonly #loop: Loop;
  readonly #waiting = new Set<Waiter>();
  /** Time at which the first slice of this turn began; undefined: none has. */
  #startMs: number | undefined;

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  /** Runs the steps to their end, in slices. `ms`: milliseconds of a turn after which no slice of theirs goes on. */
  async run<T>(steps: Generator<void, T>, ms: number): Promise<T> {
    try {
      for (;;) {
        const begun = this.slice(ms);
        const endMs = typeof begun === 'number' ? begun : await begun;
        do {
          const { done, value } = steps.next();
          if (done) return value;
        } while (this.#loop.now() < endMs);
      }
    } finally {
      this.#pass();
    }
  }

  /** Returns the time until which a task may work: now, or once its turn has come. */
  slice(ms: number): number | Promise<number> {
    this.#startMs ??= this.#open();
    if (this.#waiting.size === 0 && this.#loop.now() < this.#startMs + ms) return this.#endOf(ms, this.#startMs);
    return new Promise((begin) => {
      this.#waiting.add({ ms, begin });
      this.#pass();
    });
  }

  #open(): number {
    this.#loop.later(() => this.#onTurn());
    return this.#loop.now();
  }

  /** Waiters are there only where a later turn is coming. */
  #onTurn(): void {
    this.#startMs = undefined;
    if (this.#waiting.size === 0) return;
    this.#startMs = this.#open();
    this.#pass();
  }

  /** Gives the next task what this turn has left. */
  #pass(): void {
    const [next] = this.#waiting;
    if (next === undefined || this.#startMs === undefined || this.#loop.now() >= this.#startMs + next.ms) return;
    this.#waiting.delete(next);
    next.begin(this.#endOf(next.ms, this.#startMs));
  }

  #endOf(ms: number, startMs: number): number {
    return Math.min(startMs + ms, this.#loop.now() + Math.max(leastMs, ms / (this.#waiting.size + 1)));
  }
}
