import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns the bytes of heap and buffers that the thread holds once its garbage is collected, that of earlier tests too. */
async function heldMemory(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) {
    collectGarbage();
    await setImmediate();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Runs a step and returns the memory that is held behind it and was not before, with its result. */
export async function heldBehind<T>(
  step: () => T | Promise<T>,
): Promise<{ readonly bytes: number; readonly result: T }> {
  const before = await heldMemory();
  const result = await step();
  return { bytes: (await heldMemory()) - before, result };
}
