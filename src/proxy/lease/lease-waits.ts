// Requests of a worker that wait until main has heard of the leader about a row of leased buckets.
import type { Clock } from '../../util/clock.ts';

/** A question may be lost with the worker that asked it: it is asked again after so long. */
const waitMsMax = 500;

interface Wait {
  readonly settled: Promise<void>;
  readonly settle: () => void;
}

export class LeaseWaits {
  readonly #clock: Clock;
  /** By limit, by row. */
  readonly #waits = new Map<string, Map<number, Wait>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when main has settled the row, and after a while. */
  wait(limit: string, row: number): Promise<void> {
    const rows = this.#waits.get(limit) ?? new Map<number, Wait>();
    this.#waits.set(limit, rows);
    const known = rows.get(row);
    if (known !== undefined) return known.settled;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#clock.after(waitMsMax, () => this.settled(limit, [row]));
    const settle = (): void => {
      cancel();
      resolve();
    };
    rows.set(row, { settled: promise, settle });
    return promise;
  }

  settled(limit: string, settled: readonly number[]): void {
    const rows = this.#waits.get(limit);
    for (const row of settled) {
      const wait = rows?.get(row);
      rows?.delete(row);
      wait?.settle();
    }
    if (rows?.size === 0) this.#waits.delete(limit);
  }
}
