// Vitals of one thread: lag of its timers, its heap, and time in garbage collection. The thread writes them into
// shared memory and the scrape reads them, so that a stuck thread shows too.
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Clock } from '../util/clock.ts';
import type { CountedHistogram } from './counted-histogram.ts';

export interface ThreadVitals {
  /** Histogram of the lag; undefined where it is counted elsewhere. */
  readonly loopLag?: CountedHistogram | undefined;
  /** Bytes. */
  readonly heap: { readonly used: number; readonly limit: number };
  /** Runs, and the seconds they took together, of the young and of the old generation. */
  readonly collections: Readonly<Record<'minor' | 'major', { readonly runs: number; readonly seconds: number }>>;
}

export interface NamedThread {
  /** `main`, `raft`, `worker 1`, … */
  readonly thread: string;
  readonly vitals: ThreadVitals;
}

/** Seconds. */
const bounds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const sumAt = bounds.length + 1;
const usedAt = sumAt + 1;
const limitAt = usedAt + 1;
const minorAt = limitAt + 1;
const majorAt = minorAt + 2;

const everyMs = 100;
/** Interval of heap statistics, which take some ten microseconds each. */
const heapEveryMs = 1_000;

/** Performance entry for `gc`, with a field that Node's types lack. */
type Collection = PerformanceEntry & { readonly detail?: { readonly kind?: number } };

export const newVitalBytes = (): SharedArrayBuffer => new SharedArrayBuffer((majorAt + 2) * 8);

/** Measures the calling thread from now on, ten times a second. Figures of an earlier thread in the same memory are continued. */
export function measureThread(bytes: SharedArrayBuffer, clock: Clock): void {
  const cells = new Float64Array(bytes);
  const add = (at: number, value: number): void => {
    cells[at] = (cells[at] ?? 0) + value;
  };
  new PerformanceObserver((list) => {
    for (const { duration, detail } of list.getEntries() as Collection[]) {
      const isMinor = detail?.kind === constants.NODE_PERFORMANCE_GC_MINOR;
      add(isMinor ? minorAt : majorAt, 1);
      add((isMinor ? minorAt : majorAt) + 1, duration / 1000);
    }
  }).observe({ entryTypes: ['gc'] });
  let lookedMs = Number.NEGATIVE_INFINITY;
  const look = (): void => {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    cells[usedAt] = used;
    cells[limitAt] = limit;
    lookedMs = clock.monotonicMs();
  };
  const wait = (): void => {
    const dueMs = clock.monotonicMs() + everyMs;
    clock.after(everyMs, () => {
      const nowMs = clock.monotonicMs();
      const seconds = Math.max(0, nowMs - dueMs) / 1000;
      const bucket = bounds.findIndex((bound) => seconds <= bound);
      add(bucket < 0 ? bounds.length : bucket, 1);
      add(sumAt, seconds);
      if (nowMs - lookedMs >= heapEveryMs) look();
      wait();
    });
  };
  look();
  wait();
}

export function readVitals(bytes: SharedArrayBuffer): ThreadVitals {
  const cells = [...new Float64Array(bytes)];
  const at = (place: number): number => cells[place] ?? 0;
  return {
    loopLag: { bounds, counts: cells.slice(0, sumAt), sum: at(sumAt) },
    heap: { used: at(usedAt), limit: at(limitAt) },
    collections: {
      minor: { runs: at(minorAt), seconds: at(minorAt + 1) },
      major: { runs: at(majorAt), seconds: at(majorAt + 1) },
    },
  };
}
