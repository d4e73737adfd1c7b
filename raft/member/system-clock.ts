// The real clock of the raft worker. Timers keep the thread alive: the worker lives until it is stopped.
import type { Clock } from '../driver/driver-clock.ts';

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
  // After the poll phase: everything that sockets and disk had ready is in by then.
  soon(run) {
    setImmediate(run);
  },
};
