// Log of streams that fail to open, or end as soon as they are open: each reason once, and its count whenever that has
// doubled. Such an outage may last for days.

import type { Logger } from '../telemetry/logger.ts';
import type { Cancel, Clock } from '../util/clock.ts';

interface Ended {
  readonly reason: string;
  readonly from: string | undefined;
  readonly next: string;
  readonly inMs: number;
}

/** A stream that has been open for so long has come about. */
const lastingMs = 10_000;
/** Limit of remembered reasons, which may hold text of the other side, different each time. */
const reasonsMax = 20;

export class OutageLog {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #reasons = new Set<string>();
  /** Streams since the last that lasted that were none, or ended too soon. */
  #failures = 0;
  /** A stream has ended too soon since the last that lasted. */
  #brief = false;
  /** True once the log has a line about the open stream. */
  #connected = false;
  #cancel: Cancel = () => {};

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  opened(about: Readonly<Record<string, unknown>>): void {
    this.#cancel = this.#clock.after(lastingMs, () => {
      this.#reset();
      if (!this.#connected) this.#logOpen(about);
    });
    if (!this.#brief) this.#logOpen(about);
  }

  ended(about: Ended, servedMs: number): void {
    this.#cancel();
    if (servedMs >= lastingMs) this.#reset();
    else if (about.from !== undefined) this.#brief = true;
    this.#failures++;
    const isNew = this.#isNew(about.reason);
    const isDoubled = (this.#failures & (this.#failures - 1)) === 0;
    const level = isNew || isDoubled || this.#connected ? 'warn' : 'debug';
    this.#connected = false;
    const times = this.#failures > 1 ? { failures: this.#failures } : {};
    this.#logger[level]({ ...about, ...times }, 'no control plane: what is installed stays in force');
  }

  close(): void {
    this.#cancel();
  }

  #reset(): void {
    this.#failures = 0;
    this.#brief = false;
    this.#reasons.clear();
  }

  #isNew(reason: string): boolean {
    if (this.#reasons.has(reason) || this.#reasons.size >= reasonsMax) return false;
    this.#reasons.add(reason);
    return true;
  }

  #logOpen(about: Readonly<Record<string, unknown>>): void {
    this.#connected = true;
    this.#logger.info(about, 'connected to the control plane');
  }
}
