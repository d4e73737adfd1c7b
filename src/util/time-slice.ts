// Time slices for long work on the main thread: a generator yields wherever other work may run, and its runner decides
// whether to pause there. The same steps run to their end at once where no other work waits.
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds that all slices of one turn of the event loop may take together. */
const turnMs = 6;
/** Shortest slice in milliseconds, however many tasks run: without it none would end. */
const leastMs = 1;
let underWay = 0;

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

/** Runs the steps in time slices, other work in between. Tasks that run at the same time share one turn's milliseconds. */
export async function inSlices<T>(steps: Generator<void, T>): Promise<T> {
  underWay += 1;
  try {
    let sliceEnd = performance.now() + sliceMs();
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      if (performance.now() < sliceEnd) continue;
      await nextTurn();
      sliceEnd = performance.now() + sliceMs();
    }
  } finally {
    underWay -= 1;
  }
}

/** Pauses of work that is no generator, since it waits for others in between. */
export class Pauses {
  #sliceEnd = performance.now() + turnMs;

  get isDue(): boolean {
    return performance.now() >= this.#sliceEnd;
  }

  /** Lets other work run. */
  async pause(): Promise<void> {
    await nextTurn();
    this.#sliceEnd = performance.now() + turnMs;
  }
}

const sliceMs = (): number => Math.max(leastMs, turnMs / underWay);
