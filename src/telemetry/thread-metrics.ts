// Metrics of all threads of the process side by side, made afresh for each scrape from what the threads counted.
import { Counter, Gauge, Registry } from 'prom-client';
import { addHistograms } from './counted-histogram.ts';
import type { NamedThread, ThreadVitals } from './thread-vitals.ts';

export function threadMetrics(threads: readonly NamedThread[]): Registry {
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, help: string, of: (vitals: ThreadVitals) => number): void => {
    const family = new Gauge({ name, help, labelNames: ['thread'], registers });
    for (const { thread, vitals } of threads) family.set({ thread }, of(vitals));
  };
  const collections = (name: string, help: string, of: 'runs' | 'seconds'): void => {
    const family = new Counter({ name, help, labelNames: ['thread', 'generation'], registers });
    for (const { thread, vitals } of threads) {
      family.inc({ thread, generation: 'young' }, vitals.collections.minor[of]);
      family.inc({ thread, generation: 'old' }, vitals.collections.major[of]);
    }
  };
  gauge('sluice_thread_heap_used_bytes', 'Heap of the thread that is in use.', ({ heap }) => heap.used);
  gauge('sluice_thread_heap_limit_bytes', 'Heap at which the thread ends.', ({ heap }) => heap.limit);
  collections('sluice_thread_gc_runs_total', 'Runs of the garbage collection of the thread.', 'runs');
  collections('sluice_thread_gc_seconds_total', 'Time that the garbage collection of the thread took.', 'seconds');
  addHistograms(
    registry,
    'sluice_thread_loop_lag_seconds',
    'By how much timers of the thread come late.',
    threads.flatMap(({ thread, vitals: { loopLag } }) =>
      loopLag === undefined ? [] : [{ ...loopLag, labels: { thread } }],
    ),
  );
  return registry;
}
