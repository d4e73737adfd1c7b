// Time is an argument: whatever waits or stamps takes a Clock, so that tests advance time by hand.

// The global of that name is looked up, and asks a getter, each time.
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

/** What a timer holds, 24 days. It takes more for nothing: what is meant never to end would be over at once. */
const timerMsMax = 2 ** 31 - 1;

/** By as many timers as it takes. */
function afterLong(delayMs: number, run: () => void): Cancel {
  let cancel: Cancel;
  const wait = (leftMs: number): void => {
    const isLast = leftMs <= timerMsMax;
    cancel = systemClock.after(isLast ? leftMs : timerMsMax, isLast ? run : () => wait(leftMs - timerMsMax));
  };
  wait(delayMs);
  return () => cancel();
}
