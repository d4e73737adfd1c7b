// Loaded by mocha before all tests: what a failed test left running ends with the last one, whatever its result.
import { endAll } from './sluice-process.ts';

export const mochaHooks = { afterAll: endAll };
