// Cleanup, loaded by mocha before all tests: ends the processes that a failed test left running, after the last one.
import { endAll } from './sluice-process.ts';

export const mochaHooks = { afterAll: endAll };
