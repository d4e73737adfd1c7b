// Lets all that happens in one turn of a thread's loop leave together: whoever gathered something is flushed once,
// after everything that had arrived was dealt with. One for a thread; asks for a turn only when somebody waits.

export interface Flushable {
  /** Waits for the turn. Only the turn changes it. */
  queued: boolean;
  flush(): void;
}

export class FlushTurn {
  readonly #soon: (act: () => void) => void;
  #waiting: Flushable[] = [];
  #passing: Flushable[] = [];

  /** `soon` calls back once, later in the same turn: `setImmediate`. */
  constructor(soon: (act: () => void) => void) {
    this.#soon = soon;
  }

  add(member: Flushable): void {
    if (member.queued) return;
    member.queued = true;
    if (this.#waiting.push(member) === 1) this.#soon(this.#pass);
  }

  readonly #pass = (): void => {
    const passing = this.#waiting;
    this.#waiting = this.#passing;
    this.#passing = passing;
    for (const member of passing) {
      member.queued = false;
      member.flush();
    }
    passing.length = 0;
  };
}

/** This thread's. */
export const threadTurn = new FlushTurn((act) => setImmediate(act));
