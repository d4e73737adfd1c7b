// Signals that come twice: a terminal or a service manager signals the whole group, and npm and the launcher pass the same signal
// on.

/** Milliseconds within which the same signal is a duplicate. */
const launchedMs = process.env.SLUICE_LAUNCHED === undefined ? 0 : 500;

export class SignalEcho {
  readonly #withinMs: number;
  #last: { readonly signal: NodeJS.Signals; readonly atMs: number } | undefined;

  constructor(withinMs = launchedMs) {
    this.#withinMs = withinMs;
  }

  /** Returns whether the signal is a duplicate of the one before. */
  repeats(signal: NodeJS.Signals, nowMs = performance.now()): boolean {
    const isDuplicate = this.#last?.signal === signal && nowMs - this.#last.atMs < this.#withinMs;
    if (!isDuplicate) this.#last = { signal, atMs: nowMs };
    return isDuplicate;
  }
}
