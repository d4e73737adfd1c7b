// Clock as an argument: code that waits or takes timestamps gets a Clock, so that tests advance time by hand.

// The global of that name costs a look-up and a getter at each use.
import { performance } from 'node:perf_hooks';

export type Cancel = () => void;

export interface Clock {
  /** Wall clock, Unix milliseconds. May step; for stamps only. */
  nowMs(): number;
  /** Monotonic milliseconds since some fixed point, the same in all threads; for durations and deadlines. */
  monotonicMs(): number;
  /** Runs `run` once after `delayMs`, unless cancelled. Never keeps the process alive. */
  after(delayMs: number, run: () => void): Cancel;
}

/** `performance.now` counts from the start of its thread, `hrtime` from a point that all threads share. */
const threadStartMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => threadStartMs + performance.now(),
  after(delayMs, run) {
    if (delayMs > timerMsMax) return afterLong(delayMs, run);
    const timer = setTimeout(run, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Longest delay of a timer of Node's, 24 days; it treats a longer one as 1 ms, so a wait without end would end at once. */
const timerMsMax = 2 ** 31 - 1;

/** Runs `run` after a delay beyond the limit of one timer, by a chain of timers. */
function afterLong(delayMs: number, run: () => void): Cancel {
  let cancel: Cancel;
  const wait = (leftMs: number): void => {
    const isLast = leftMs <= timerMsMax;
    cancel = systemClock.after(isLast ? leftMs : timerMsMax, isLast ? run : () => wait(leftMs - timerMsMax));
  };
  wait(delayMs);
  return () => cancel();
}
