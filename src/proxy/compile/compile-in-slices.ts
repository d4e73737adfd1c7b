// Compiling beside running traffic: the thread serves what waits between two slices.
import type { Configuration } from '../../model/proxy-config.ts';
import { inSlices } from '../compile-slices.ts';
import { buildOf } from '../middleware/registry.ts';
import type { MiddlewareServices } from '../middleware/services.ts';
import { type Compiled, compileInSteps, type Memory } from './compile.ts';

/** Returns whether a middleware of that type can be built and run. */
export const canRun = (type: string): boolean => buildOf(type) !== undefined;

/** Memory of the latest compilation by `compileForQuestion`, while the collector lets it be. */
let latest: WeakRef<Memory> | undefined;

/**
 * Compiles a configuration that is asked about and serves nothing: mostly one that differs little from the one before. Its parts are
 * used again.
 */
export async function compileForQuestion(configuration: Configuration): Promise<Compiled> {
  const compiled = await compileInSlices(configuration, latest?.deref());
  latest = new WeakRef(compiled.memory);
  return compiled;
}

export async function compileInSlices(
  configuration: Configuration,
  former?: Memory,
  services?: MiddlewareServices,
): Promise<Compiled> {
  return inSlices(compileInSteps(configuration, { former, canRun, services }));
}
