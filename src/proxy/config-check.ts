// Compile check of a snapshot before it is created: problems refuse it, warnings name the parts that stay closed on
// their own (architecture.md §6.19, §6.30). Dangling references and listeners that collide are checked by src/snapshot.
// Passed to the snapshot resource as a function.
import type { Problem } from '../model/problem.ts';
import { type Configuration, listOf } from '../model/proxy-config.ts';
import { problemsInSteps } from './compile/compile.ts';
import { canRun } from './compile/compile-in-slices.ts';
import { ValidatedRoutes } from './compile/validated-route-cache.ts';
import { inSlices } from './compile-slices.ts';
import { ConsumerDirectory } from './consumers/consumer-directory.ts';
import { StreamTable } from './stream/stream-route-table.ts';
import { destinationProblems } from './tls/destination-material.ts';
import { listenerProblems } from './tls/terminators.ts';

export interface ConfigCheck {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** Cached results: entities are immutable, so that a result holds for each equal one. */
const validated = new ValidatedRoutes();

/** Compiles as a proxy would at that time, Unix milliseconds, in slices. Pointers name entities by id: `/routes/<id>/match/pathRegex`. */
export async function checkConfig(configuration: Configuration, nowMs: number): Promise<ConfigCheck> {
  const routes = await inSlices(problemsInSteps(configuration, { canRun, validated }));
  const streams = await inSlices(StreamTable.of(configuration, undefined));
  const consumers = await inSlices(ConsumerDirectory.of(listOf(configuration, 'consumers')));
  const problems = [...routes, ...streams.problems, ...consumers.problems];
  const warnings = [
    ...(await listenerProblems(configuration, nowMs)),
    ...configuration.destinations.flatMap((destination) => destinationProblems(destination, nowMs)),
  ];
  return { problems, warnings };
}
