// Warnings about messages that the core refused for their content or sender. Senders repeat themselves many times a
// second, so each warning is logged once in a while.
import type { CoreEvent } from '../core/output.ts';
import type { Clock } from '../driver/driver-clock.ts';
import type { Notices } from './member-host.ts';

const everyMs = 60_000;
/** Senders are counted by what they call themselves: there may be very many. */
const toldMax = 256;

export class SenderWarnings {
  readonly #host: Pick<Notices, 'warning'>;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #told = new Map<string, number>();

  constructor(host: Pick<Notices, 'warning'>, clock: Pick<Clock, 'monotonicMs'>) {
    this.#host = host;
    this.#clock = clock;
  }

  happened(event: CoreEvent): void {
    if (event.type === 'stranger') {
      const { from, message } = event;
      this.#warn(
        `stranger ${from}`,
        `${from} is no member that this node knows, or has no vote: its messages are dropped (${message}). A node that was ` +
          'away while its peers were replaced hears of that from one that it knows',
      );
    } else if (event.type === 'refused') {
      const { from, message, why } = event;
      this.#warn(`refused ${from} ${message}`, `a message of ${from} is refused (${message}): ${why}`);
    }
  }

  #warn(about: string, text: string): void {
    const now = this.#clock.monotonicMs();
    const toldAt = this.#told.get(about);
    if (toldAt !== undefined && now - toldAt < everyMs) return;
    if (this.#told.size >= toldMax) this.#told.clear();
    this.#told.set(about, now);
    this.#host.warning(text);
  }
}
