// Long work beside running traffic: the thread serves what waits between two slices.
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * How long one slice holds the thread. A collection of garbage of several milliseconds may fall into it, and a set of
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
