// Failed handshakes of a listener, by reason: for metrics, and logged in one line per interval, so that a flood of
// them is no flood of lines.
import type { Logger } from '../../telemetry/logger.ts';
import { Timed, type Wheel } from '../wheel.ts';

/** Milliseconds from the first counted failure to its log line. */
const logIntervalMs = 10_000;
/** Distinct reasons: OpenSSL has many, and clients choose among them. */
const reasonsMax = 64;

export class HandshakeFailures extends Timed {
  /** Name of the listener. */
  listener: string;
  /** Count by reason since the port was opened. */
  readonly counts = new Map<string, number>();
  readonly #wheel: Wheel;
  readonly #logger: Logger;
  #total = 0;
  #loggedTotal = 0;
  #unlogged = new Map<string, number>();

  constructor(listener: string, wheel: Wheel, logger: Logger) {
    super();
    this.listener = listener;
    this.#wheel = wheel;
    this.#logger = logger;
  }

  get total(): number {
    return this.#total;
  }

  count(reason: string): void {
    const key = this.counts.has(reason) || this.counts.size < reasonsMax ? reason : 'other';
    increment(this.counts, key);
    increment(this.#unlogged, key);
    if (this.#total++ === this.#loggedTotal) this.#wheel.arm(this, logIntervalMs);
  }

  override onDeadline(): void {
    const failures = this.#total - this.#loggedTotal;
    this.#loggedTotal = this.#total;
    const fields = { listener: this.listener, failures, reasons: Object.fromEntries(this.#unlogged) };
    this.#unlogged = new Map();
    this.#logger.warn(fields, 'TLS handshakes have failed');
  }
}

const increment = (counts: Map<string, number>, key: string): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1);
};
