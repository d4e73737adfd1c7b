// Long work on the main thread in short pieces: a generator yields wherever others may have their turn, and whoever runs
// it decides whether they get it. The same steps run to their end at once where nobody else waits.
import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long the pieces of one turn may hold the thread, milliseconds. */
const turnMs = 6;
/** However much is under way, each piece of it may take so long: it would not end otherwise. */
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

/** What is about fewer bytes is over before anybody could notice, and costs no turn. */
const largeBytes = 256 * 1024;

/** Steps that work through so many bytes: with pauses, if `run` makes any, when these are many. */
export const workThrough = <T>(bytes: number, steps: Generator<void, T>, run: RunSteps): T | Promise<T> =>
  bytes < largeBytes ? drain(steps) : run(steps);

/** Runs the steps with a turn for others after each slice. What is under way at the same time shares the turns. */
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

const sliceMs = (): number => Math.max(leastMs, turnMs / underWay);
