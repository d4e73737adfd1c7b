// Compilation beside traffic: CPU, how long the thread is held, what is left on the heap.
import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Configuration } from '../../../src/model/proxy-config.ts';
import type { Route } from '../../../src/model/route.ts';
import { type Compiled, compileInSteps, type Memory } from '../../../src/proxy/compile/compile.ts';
import { sliceMs } from '../../../src/proxy/compile-slices.ts';
import type { RoutingTable } from '../../../src/proxy/match/routing-table.ts';
import { cpuUs } from './cpu.ts';
import { collectGarbage } from './garbage.ts';

export interface Timed {
  readonly compiled: Compiled;
  /** CPU of the thread. */
  readonly ms: number;
  /** CPU too. */
  readonly longestSliceMs: number;
  /** Longest collection of garbage, in a slice or between two. */
  readonly longestCollectionMs: number;
}

/** Compiles as src/proxy/compile-slices.ts does. Older garbage is collected first, for it is not the compiler's. */
export async function compileTimed(routes: readonly Route[], former?: Memory): Promise<Timed> {
  collectGarbage();
  const collections: PerformanceEntry[] = [];
  const observer = new PerformanceObserver((list) => collections.push(...list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  const start = cpuUs();
  const { compiled, longestSliceMs } = await inSlices(routes, former);
  const ms = (cpuUs() - start) / 1000;
  await nextTurn();
  collections.push(...observer.takeRecords());
  observer.disconnect();
  const longestCollectionMs = Math.max(0, ...collections.map(({ duration }) => duration));
  return { compiled, ms, longestSliceMs, longestCollectionMs };
}

async function inSlices(
  routes: readonly Route[],
  former: Memory | undefined,
): Promise<{ compiled: Compiled; longestSliceMs: number }> {
  const steps = compileInSteps(configuration(routes), { former, canRun: () => true });
  let longestSliceMs = 0;
  let start = cpuUs();
  for (;;) {
    const { done, value } = steps.next();
    const ms = (cpuUs() - start) / 1000;
    if (!done && ms < sliceMs) continue;
    longestSliceMs = Math.max(longestSliceMs, ms);
    if (done) return { compiled: value, longestSliceMs };
    await nextTurn();
    start = cpuUs();
  }
}

export function tableOf({ compiled: { table } }: Timed): RoutingTable {
  if (table === undefined) throw new Error('the benchmark made a table that is refused');
  return table;
}

/** Bytes on and off the heap that a table and its memory for the next one hold; `warm` uses the table. */
export async function bytesPerRoute(
  routes: readonly Route[],
  warm: (table: RoutingTable) => void = () => {},
): Promise<number> {
  const before = held();
  const timed = await compileTimed(routes);
  warm(tableOf(timed));
  const bytes = (held() - before) / routes.length;
  return timed.compiled.table?.size === routes.length ? bytes : Number.NaN;
}

function held(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

const configuration = (routes: readonly Route[]): Configuration => ({
  listeners: [],
  destinations: [],
  groups: [],
  middlewares: [],
  routes,
});
