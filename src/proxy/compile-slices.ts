// Time slices of long work beside running traffic: between two of them the thread serves requests.
import { inSlices as inSlicesOf } from '../util/time-slice.ts';

/**
 * Time slice of compilation, in milliseconds. A garbage collection of several milliseconds may add to it, and a set of
 * patterns, which cannot be divided.
 */
export const sliceMs = 2;

/** Runs the steps to their end, in slices of so many milliseconds; tasks that run at the same time share them. */
export const inSlices = <T>(steps: Generator<void, T>, ms = sliceMs): Promise<T> => inSlicesOf(steps, ms);
