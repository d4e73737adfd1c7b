// Compiling beside running traffic: the thread serves what waits between two slices.
import type { Configuration } from '../../model/proxy-config.ts';
import { inSlices } from '../compile-slices.ts';
import { buildOf } from '../middleware/registry.ts';
import type { MiddlewareServices } from '../middleware/services.ts';
import { type Compiled, compileInSteps, type Memory } from './compile.ts';

/** Returns whether a middleware of that type can be built and run. */
export const canRun = (type: string): boolean => buildOf(type) !== undefined;

export async function compileInSlices(
  configuration: Configuration,
  former?: Memory,
  services?: MiddlewareServices,
): Promise<Compiled> {
  return inSlices(compileInSteps(configuration, { former, canRun, services }));
}
