// Time slices for long work on the main thread: a generator yields wherever other work may run, and its runner decides
// whether to pause there. The same steps run to their end at once where no other work waits.
import { LoopTurns } from './loop-turns.ts';

/** Milliseconds that all slices of one turn of the event loop may take together. */
const turnMs = 6;

/** Turns of this thread. */
const turns = new LoopTurns({ now: () => performance.now(), later: (run) => void setImmediate(run) });

/** Runs work to its end, with pauses or without. */
export type RunSteps = <T>(steps: Generator<void, T>) => Promise<T>;

/** Runs all steps now. */
export function drain<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Bytes below which work runs without a pause: it takes less than a slice. */
const largeBytes = 256 * 1024;

/** Runs the steps over so many bytes: at once below `largeBytes`, otherwise by `run`, which may pause. */
export const runSliced = <T>(bytes: number, steps: Generator<void, T>, run: RunSteps): T | Promise<T> =>
  bytes < largeBytes ? drain(steps) : run(steps);

/**
 * Runs the steps in time slices, other work in between. Tasks that run at the same time share the milliseconds of one turn;
 * `ms` is the part of it after which no slice of these steps goes on.
 */
export const inSlices = <T>(steps: Generator<void, T>, ms = turnMs): Promise<T> => turns.run(steps, ms);

/** Pauses of work that is no generator, since it waits for others in between. The first one is due at once. */
export class Pauses {
  #sliceEnd = Number.NEGATIVE_INFINITY;

  get isDue(): boolean {
    return performance.now() >= this.#sliceEnd;
  }

  /** Lets other work run, unless this turn has time left. */
  async pause(): Promise<void> {
    this.#sliceEnd = await turns.slice(turnMs);
  }
}
