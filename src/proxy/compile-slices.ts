// Time slices of long work beside running traffic: between two of them the thread serves requests.
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Time slice of compilation, in milliseconds. A garbage collection of several milliseconds may add to it, and a set of
 * patterns, which cannot be divided.
 */
export const sliceMs = 2;

/** Runs the steps to their end, in slices of so many milliseconds. */
export async function inSlices<T>(steps: Generator<void, T>, ms = sliceMs): Promise<T> {
  let sliceEnd = performance.now() + ms;
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() < sliceEnd) continue;
    await nextTurn();
    sliceEnd = performance.now() + ms;
  }
}
