// Report of the raft worker about its own thread: memory, and the time of garbage collection. In the worker only: a
// simulated member has no thread of its own.
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

export interface ThreadReport {
  /** Bytes. */
  readonly heap: { readonly used: number; readonly limit: number };
  readonly collections: {
    /** Runs, and the seconds they took together, of the young and of the old generation. */
    readonly minor: { readonly runs: number; readonly seconds: number };
    readonly major: { readonly runs: number; readonly seconds: number };
  };
}

/** Performance entry as Node gives it for `gc`; its types lack the detail. */
type Collection = PerformanceEntry & { readonly detail?: { readonly kind?: number } };

/** Starts counting; the returned function gives the report. */
export function watchThread(): () => ThreadReport {
  const tally = { minor: { runs: 0, seconds: 0 }, major: { runs: 0, seconds: 0 } };
  const observer = new PerformanceObserver((list) => {
    for (const { duration, detail } of list.getEntries() as Collection[]) {
      const isMinor = detail?.kind === constants.NODE_PERFORMANCE_GC_MINOR;
      const kind = isMinor ? tally.minor : tally.major;
      kind.runs += 1;
      kind.seconds += duration / 1000;
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    return { heap: { used, limit }, collections: { minor: { ...tally.minor }, major: { ...tally.major } } };
  };
}
