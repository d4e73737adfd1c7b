// Compiling beside running traffic: the thread serves what waits between two slices.
import { SluiceError } from '../../errors.ts';
import type { Configuration } from '../../model/proxy-config.ts';
import { inSlices } from '../compile-slices.ts';
import { buildOf } from '../middleware/registry.ts';
import type { MiddlewareServices } from '../middleware/services.ts';
import { type Compiled, compileInSteps, type Memory } from './compile.ts';

/** Returns whether a middleware of that type can be built and run. */
export const canRun = (type: string): boolean => buildOf(type) !== undefined;

/** Milliseconds for which the memory of the latest question is held; later questions find it while the collector lets it be. */
const heldMs = 60_000;

/** Memory of the latest compilation by `compileForQuestion`. */
const latest: { known: WeakRef<Memory> | undefined; held: Memory | undefined; timer: NodeJS.Timeout | undefined } = {
  known: undefined,
  held: undefined,
  timer: undefined,
};

/** Compilations that may wait for the one under way where a caller can ask again. */
export const questionsWaitingMax = 64;
let waiting = 0;
let former: Promise<unknown> = Promise.resolve();

/**
 * Compiles a configuration that is asked about and serves nothing: mostly one that differs little from the one before. Its parts are
 * used again. One is compiled at a time, because each takes the memory of a table. Rejects with UNAVAILABLE where more than
 * `waitingMax` wait.
 */
export async function compileForQuestion(
  configurationOf: () => Configuration,
  waitingMax = Number.POSITIVE_INFINITY,
): Promise<Questioned> {
  if (waiting >= waitingMax)
    throw new SluiceError('UNAVAILABLE', `${waiting} questions wait for their configuration to be compiled`);
  waiting++;
  const compiled = former.then(() => {
    waiting--;
    return compileNow(configurationOf());
  });
  former = compiled.catch(() => {});
  return await compiled;
}

/** Configuration that is asked about, compiled. */
interface Questioned extends Compiled {
  readonly configuration: Configuration;
}

async function compileNow(configuration: Configuration): Promise<Questioned> {
  const compiled = await compileInSlices(configuration, latest.known?.deref());
  hold(compiled.memory);
  return { ...compiled, configuration };
}

function hold(memory: Memory): void {
  latest.known = new WeakRef(memory);
  latest.held = memory;
  clearTimeout(latest.timer);
  latest.timer = setTimeout(() => {
    latest.held = undefined;
  }, heldMs).unref();
}

export async function compileInSlices(
  configuration: Configuration,
  former?: Memory,
  services?: MiddlewareServices,
): Promise<Compiled> {
  return inSlices(compileInSteps(configuration, { former, canRun, services }));
}
