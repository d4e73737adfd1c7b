// Edit pause: lets a capture overtake uninterrupted edits (architecture.md §7.7). A capture that has been too late
// once is marked so in its next try; from then on this node, while it leads, keeps back changes of the configuration
// until the capture is decided. A batch with a snapshot is a capture, too. Commands in the log before that try are
// applied with it, so the check that follows sees the last change.

import type { Capture, Draft, Result } from '../../state/command.ts';
import type { Cancel, Clock } from '../../util/clock.ts';

/** The longest that a write is kept back: long enough to check a large configuration once more on a busy machine. */
export const holdMs = 2_000;

interface Waiting {
  readonly go: () => void;
  readonly cancel: Cancel;
}

export class WriteHold {
  readonly #clock: Clock;
  /** Captures that changes wait for, by snapshot id, with the end of their time. */
  readonly #captures = new Map<string, Cancel>();
  readonly #waiting = new Set<Waiting>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Called with each command before it enters the log: undefined lets it go on at once, a promise resolves when it may. */
  enter(command: Draft): Promise<void> | undefined {
    const others = this.#captures.size - (this.#captures.has(command.id) ? 1 : 0);
    if (others > 0 && changesConfiguration(command)) return this.#wait().then(() => this.#passed(command));
    this.#passed(command);
    return undefined;
  }

  /** Called with each result. A capture for which the state has moved will be tried again. */
  decided({ id, status }: Pick<Result, 'id' | 'status'>): void {
    if (this.#captures.size > 0 && status !== 'moved') this.#end(id);
  }

  #passed(command: Draft): void {
    if (captureOf(command)?.holdsWrites === true) this.#begin(command.id);
  }

  #wait(): Promise<void> {
    return new Promise((go) => {
      const cancel = this.#clock.after(holdMs, () => {
        this.#waiting.delete(waiting);
        go();
      });
      const waiting: Waiting = { go, cancel };
      this.#waiting.add(waiting);
    });
  }

  #begin(id: string): void {
    this.#captures.get(id)?.();
    this.#captures.set(
      id,
      this.#clock.after(holdMs, () => this.#end(id)),
    );
  }

  #end(id: string): void {
    this.#captures.get(id)?.();
    if (!this.#captures.delete(id) || this.#captures.size > 0) return;
    for (const { go, cancel } of this.#waiting) {
      cancel();
      go();
    }
    this.#waiting.clear();
  }
}

const captureOf = (command: Draft): Pick<Capture, 'holdsWrites'> | undefined =>
  command.op === 'capture' ? command : command.op === 'batch' ? command.snapshot : undefined;

/** Captures, activations and the end of a snapshot leave the configuration as it is. */
const changesConfiguration = (command: Draft): boolean =>
  command.op !== 'capture' && command.op !== 'activate' && !(command.op === 'delete' && command.kind === 'snapshots');
