// A fleet of proxies with one rate limit of the whole cluster, in simulated time: buckets, holders and ledger of the
// product, a network that delays and loses, proxies that die or lose contact, leaders that die and go on unknowing.

import { endedMs, Ledger } from '../../../src/fleet/leases/lease-ledger.ts';
import type { LeaseReport } from '../../../src/model/answers/lease-answers.ts';
import type { LeasedLimit } from '../../../src/model/limit-rates.ts';
import type { MiddlewareExchange } from '../../../src/proxy/exchange/phase.ts';
import { LeaseHolder } from '../../../src/proxy/lease/lease-holder.ts';
import { LeaseWaits } from '../../../src/proxy/lease/lease-waits.ts';
import type { Charge } from '../../../src/proxy/middleware/rate-limit/charge.ts';
import { leasedRequest } from '../../../src/proxy/middleware/rate-limit/leased.ts';
import { LeasedBuckets } from '../../../src/proxy/shared/leased-buckets.ts';
import type { Cancel, Clock } from '../../../src/util/clock.ts';

/** Time that passes event by event; what an event began is over before the next one. */
class SimulatedClock implements Clock {
  #now = 0;
  #order = 0;
  readonly #timers: { readonly at: number; readonly order: number; readonly run: () => void; isOff: boolean }[] = [];

  nowMs(): number {
    return this.#now;
  }

  monotonicMs(): number {
    return this.#now;
  }

  after(delayMs: number, run: () => void): Cancel {
    const timer = { at: this.#now + Math.max(0, delayMs), order: ++this.#order, run, isOff: false };
    let low = 0;
    let high = this.#timers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#timers[middle];
      // Descending, so that the next one is at the end.
      if (other !== undefined && other.at > timer.at) low = middle + 1;
      else high = middle;
    }
    this.#timers.splice(low, 0, timer);
    return () => {
      timer.isOff = true;
    };
  }

  async run(untilMs: number): Promise<void> {
    for (;;) {
      const timer = this.#timers.at(-1);
      if (timer === undefined || timer.at > untilMs) break;
      this.#timers.pop();
      if (timer.isOff) continue;
      this.#now = timer.at;
      timer.run();
      for (let turn = 0; turn < 8; turn++) await undefined;
    }
    this.#now = untilMs;
  }
}

/** Tokens that passed beside what one bucket of that size would let pass, over every stretch of time. */
export class Referee {
  readonly #limit: LeasedLimit;
  #level: number;
  #atMs = 0;
  passed = 0;
  /** Most tokens that any stretch of time had too many. */
  over = 0;

  constructor(limit: LeasedLimit) {
    this.#limit = limit;
    this.#level = limit.burst;
  }

  pass(nowMs: number): void {
    const gain = ((nowMs - this.#atMs) * this.#limit.requestsPerSecond) / 1000;
    this.#level = Math.min(this.#limit.burst, this.#level + gain) - 1;
    this.#atMs = nowMs;
    this.passed++;
    this.over = Math.max(this.over, -this.#level);
  }
}

export interface SimulatedProxy {
  readonly name: string;
  /** Sends a request of that key; true when it passes. */
  request(key: string): Promise<boolean>;
  isCutOff: boolean;
  die(): void;
}

/** Time for which a leader without its cluster still believes to lead. */
const unknowingMs = 2_000;

export class LeaseFleet {
  readonly clock = new SimulatedClock();
  readonly #limit: LeasedLimit;
  readonly #random: () => number;
  #ledger: Ledger | undefined;
  #former: { readonly ledger: Ledger; readonly untilMs: number } | undefined;

  constructor(limit: LeasedLimit, random: () => number) {
    this.#limit = limit;
    this.#random = random;
    this.#ledger = new Ledger();
    this.#ledger.begin([], 0);
  }

  /** The leader is gone for so long; one that is only cut off goes on for a while, unknowing. */
  loseLeader(forMs: number, isUnknowing: boolean): void {
    if (isUnknowing && this.#ledger !== undefined) {
      this.#former = { ledger: this.#ledger, untilMs: this.clock.monotonicMs() + unknowingMs };
    }
    this.#ledger = undefined;
    this.clock.after(forMs, () => {
      this.#ledger = new Ledger();
      this.#ledger.begin([this.#limit.id], this.clock.monotonicMs());
    });
  }

  proxy(name: string): SimulatedProxy {
    const { clock } = this;
    const waits = new LeaseWaits(clock);
    const memory = LeasedBuckets.memory(1_024);
    const holder = new LeaseHolder({
      clock,
      report: (report) => this.#report(proxy, report),
      onSettled: (limit, rows) => clock.after(0, () => waits.settled(limit, rows)),
    });
    holder.follow([{ limit: this.#limit, memory }]);
    const buckets = new LeasedBuckets(memory, this.#limit, 1, (row, tokens, keyName) => {
      clock.after(0, () => holder.ask(this.#limit.id, row, tokens, keyName));
    });
    let key = '';
    const charge: Charge = {
      needsBody: false,
      keyOf: () => buckets.keyOf(key),
      nameOf: () => key,
      costOf: () => 1,
    };
    const limits = { buckets: [buckets], wait: (_: number, row: number) => waits.wait(this.#limit.id, row) };
    const outcomes = { pass: () => undefined, refuse: () => ({ status: 429, fields: [], body: '' }) };
    const onRequest = leasedRequest(charge, limits, outcomes, () => clock.monotonicMs());
    const proxy = {
      name,
      isCutOff: false,
      async request(asked: string): Promise<boolean> {
        key = asked;
        const exchange = { state: [] as unknown[] } as MiddlewareExchange;
        return (await onRequest(exchange, 0)) === undefined;
      },
      die: () => {
        holder.close();
        // Its node sees the stream end.
        clock.after(endedMs, () => this.#ledger?.ended(name, clock.monotonicMs()));
      },
    };
    return proxy;
  }

  #report(
    proxy: SimulatedProxy,
    report: LeaseReport,
  ): ReturnType<ConstructorParameters<typeof LeaseHolder>[0]['report']> {
    const { clock } = this;
    return new Promise((resolve) => {
      clock.after(1_000, () => resolve(undefined));
      if (proxy.isCutOff || this.#random() < 0.001) return;
      clock.after(this.#delayMs(), () => {
        const reply = this.#leader()?.take(proxy.name, report, clock.monotonicMs());
        if (reply === undefined || this.#random() < 0.001) return;
        clock.after(this.#delayMs(), () => resolve(reply));
      });
    });
  }

  /** Some reports reach a leader that does not know yet that it is none. */
  #leader(): Ledger | undefined {
    const former = this.#former;
    const reachesFormer = former !== undefined && this.clock.monotonicMs() < former.untilMs && this.#random() < 0.5;
    return reachesFormer ? former.ledger : this.#ledger;
  }

  #delayMs(): number {
    return 1 + this.#random() * 10;
  }
}
