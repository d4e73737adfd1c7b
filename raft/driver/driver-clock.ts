// Time as raft sees it: a parameter, so that the simulator can own it.

export type Cancel = () => void;

export interface Clock {
  /** Wall clock, Unix milliseconds. May step; for the leader's stamps only. */
  nowMs(): number;
  /** Monotonic milliseconds since some fixed point. */
  monotonicMs(): number;
  /** Runs `run` once after `delayMs`, unless cancelled. */
  after(delayMs: number, run: () => void): Cancel;
  /** Runs `run` after everything that has already arrived was handed over (end of this turn of the loop). */
  soon(run: () => void): void;
}
