// Compiling beside running traffic: the thread serves what waits between two slices.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Configuration } from '../../model/proxy-config.ts';
import { buildOf } from '../middleware/registry.ts';
import type { MiddlewareServices } from '../middleware/services.ts';
import { type Compiled, compileInSteps, type Memory } from './compile.ts';

/**
 * How long one slice holds the thread. A collection of garbage of several milliseconds may fall into it, and a set of
 * patterns, which cannot be divided.
 */
export const sliceMs = 2;

export async function compileInSlices(
  configuration: Configuration,
  former?: Memory,
  services?: MiddlewareServices,
): Promise<Compiled> {
  const canRun = (type: string): boolean => buildOf(type) !== undefined;
  return inSlices(compileInSteps(configuration, { former, canRun, services }));
}

/** Runs the steps to their end; between two slices the thread serves. */
export async function inSlices<T>(steps: Generator<void, T>): Promise<T> {
  let sliceEnd = performance.now() + sliceMs;
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() < sliceEnd) continue;
    await nextTurn();
    sliceEnd = performance.now() + sliceMs;
  }
}
