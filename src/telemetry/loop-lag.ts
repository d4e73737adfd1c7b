// Lag of the event loop, how late the timers of the main thread come: a blocked thread shows here first (raft.md
// A22).
import { Histogram } from 'prom-client';
import type { Clock } from '../util/clock.ts';
import type { Metrics } from './metrics.ts';

const everyMs = 100;

/** Measures the lag from now on, ten times a second. */
export function measureLoopLag({ registry }: Pick<Metrics, 'registry'>, clock: Clock): void {
  const lag = new Histogram({
    name: 'sluice_event_loop_lag_seconds',
    help: 'By how much timers of the main thread come late.',
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  });
  const wait = (): void => {
    const due = clock.monotonicMs() + everyMs;
    clock.after(everyMs, () => {
      lag.observe(Math.max(0, clock.monotonicMs() - due) / 1000);
      wait();
    });
  };
  wait();
}
