// A leader that deals leases of rate limits within the process, without a network.
import { Ledger } from '../../src/fleet/leases/lease-ledger.ts';
import type { ReportLeases } from '../../src/model/lease-messages.ts';
import { type Clock, systemClock } from '../../src/util/clock.ts';

export class LedgerLeases {
  readonly #clock: Clock;
  ledger = new Ledger();
  /** False: no report reaches it. */
  isReached = true;
  reports = 0;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
    this.ledger.begin([], clock.monotonicMs());
  }

  readonly report: ReportLeases = (report) => this.of('p')(report);

  /** Way of the proxy of that name. */
  of(name: string): ReportLeases {
    return async (report) => {
      this.reports++;
      return this.isReached ? this.ledger.take(name, report, this.#clock.monotonicMs()) : undefined;
    };
  }
}
