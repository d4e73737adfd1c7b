// Path report of a listener with `pathNormalization: report`: paths that enforcement would change (architecture.md
// §6.8, security.md S36), counted, and logged in one line per interval, so that a flood of them is no flood of lines.
import type { Logger } from '../../telemetry/logger.ts';
import { Timed, type Wheel } from '../wheel.ts';

/** Milliseconds from the first counted request to its log line. */
const logIntervalMs = 10_000;
/** Characters of a path in a log line. */
const shownMax = 200;

export class PathReport extends Timed {
  /** Name of the listener. */
  listener: string;
  readonly #wheel: Wheel;
  readonly #logger: Logger;
  #requests = 0;
  /** First counted paths. */
  #example = { sent: '', canonical: '' };

  constructor(listener: string, wheel: Wheel, logger: Logger) {
    super();
    this.listener = listener;
    this.#wheel = wheel;
    this.#logger = logger;
  }

  /** Counts a request that went on with the path `sent`, where `canonical` would have been enforced. */
  count(sent: string, canonical: string): void {
    if (this.#requests++ > 0) return;
    this.#example = { sent: sent.slice(0, shownMax), canonical: canonical.slice(0, shownMax) };
    this.#wheel.arm(this, logIntervalMs);
  }

  override onDeadline(): void {
    const fields = { listener: this.listener, requests: this.#requests, ...this.#example };
    this.#logger.warn(fields, 'paths that enforcing would change go on as they were sent');
    this.#requests = 0;
  }
}
