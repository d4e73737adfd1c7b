// Parts of the cluster's budgets that this process holds (fleet.md §8), kept by main for all workers: it reports what is
// used, takes what the leader grants, and gives back what no request asks for. Without a limit of that scope nothing
// of it runs.

import type { LeaseReply, LeaseReport } from '../../model/answers/lease-answers.ts';
import { leaseLimits } from '../../model/lease-limits.ts';
import type { ReportLeases } from '../../model/lease-messages.ts';
import type { LeasedLimit } from '../../model/limit-rates.ts';
import type { LeaseFigures } from '../../telemetry/lease-metrics.ts';
import type { Cancel, Clock } from '../../util/clock.ts';
import { LeasedBuckets } from '../shared/leased-buckets.ts';
import { LeaseRow } from './lease-row.ts';

export interface HeldLimit {
  readonly limit: LeasedLimit;
  readonly memory: SharedArrayBuffer;
}

export interface LeaseHolderOptions {
  readonly clock: Clock;
  readonly report: ReportLeases;
  /** Called with rows of a limit that there is news of. */
  readonly onSettled: (limit: string, rows: readonly number[]) => void;
}

const tickMs = 50;
/** Urgent reports come at most so often in the time of a report. */
const urgentPerPace = 12;
/** Interval of attempts without a leader. */
const aloneMs = 500;

interface Held extends HeldLimit {
  readonly buckets: LeasedBuckets;
  readonly rows: Map<number, LeaseRow>;
  readonly byKey: Map<string, LeaseRow>;
  isInForce: boolean;
}

export class LeaseHolder {
  readonly #options: LeaseHolderOptions;
  readonly #held = new Map<string, Held>();
  #seq = 0;
  #paceMs = 250;
  #reportedMs = 0;
  #isReporting = false;
  /** Undefined before the first report. */
  #isInContact: boolean | undefined;
  #cancelTick: Cancel | undefined;
  #cancelReport: Cancel | undefined;
  #ended = false;

  constructor(options: LeaseHolderOptions) {
    this.#options = options;
  }

  get figures(): LeaseFigures {
    let held = 0;
    for (const { rows } of this.#held.values()) held += rows.size;
    return { held, isInContact: this.#held.size === 0 ? undefined : this.#isInContact };
  }

  /** Takes up the limits that are in force; parts of all others are given back. */
  follow(limits: readonly HeldLimit[]): void {
    for (const held of this.#held.values()) held.isInForce = false;
    for (const { limit, memory } of limits) {
      const known = this.#held.get(limit.id);
      if (known !== undefined) known.isInForce = true;
      else this.#held.set(limit.id, this.#hold({ limit, memory }));
    }
    for (const [id, { isInForce, rows }] of this.#held) {
      if (isInForce) continue;
      for (const row of rows.values()) row.giveBack();
      if (rows.size === 0) this.#held.delete(id);
    }
    this.#tickLater();
  }

  /** Returns the blocks of limits of which parts are held, or may be asked for. */
  blocks(): ReadonlySet<SharedArrayBuffer> {
    return new Set([...this.#held.values()].map(({ memory }) => memory));
  }

  /** A worker lacks tokens, or has few left. @param name of the key; undefined: it is known */
  ask(id: string, place: number, tokens: number, name: string | undefined): void {
    const held = this.#held.get(id);
    if (held === undefined || this.#ended) return;
    const { clock, onSettled } = this.#options;
    const nowMs = clock.monotonicMs();
    let row = held.rows.get(place);
    if (row === undefined) {
      // The row was given back meanwhile, or its key has another already: the worker looks again.
      if (name === undefined || held.byKey.has(name)) {
        held.buckets.free(place);
        onSettled(id, [place]);
        return;
      }
      row = new LeaseRow(place, name, held.limit, held.buckets, nowMs);
      held.rows.set(place, row);
      held.byKey.set(name, row);
    }
    row.ask(tokens, nowMs);
    if (this.#isInContact === false) {
      row.alone(nowMs);
      onSettled(id, [place]);
    } else this.#reportLater(Math.max(0, this.#reportedMs + this.#paceMs / urgentPerPace - nowMs));
    this.#tickLater();
  }

  close(): void {
    this.#ended = true;
    this.#cancelTick?.();
    this.#cancelReport?.();
  }

  #hold({ limit, memory }: HeldLimit): Held {
    const buckets = new LeasedBuckets(memory, limit, 1);
    return { limit, memory, buckets, rows: new Map(), byKey: new Map(), isInForce: true };
  }

  #tickLater(): void {
    if (this.#cancelTick !== undefined || this.#ended || this.#isEmpty()) return;
    this.#cancelTick = this.#options.clock.after(tickMs, () => {
      this.#cancelTick = undefined;
      this.#tick();
      this.#tickLater();
    });
  }

  #isEmpty(): boolean {
    for (const { rows } of this.#held.values()) if (rows.size > 0) return false;
    return true;
  }

  #tick(): void {
    const nowMs = this.#options.clock.monotonicMs();
    let isDue = false;
    for (const held of this.#held.values()) {
      for (const row of held.rows.values()) {
        row.tick(nowMs);
        if (this.#isInContact === true) row.giveBackIdle(nowMs);
        else if (row.freeIdle(nowMs)) this.#forget(held, row);
        isDue ||= row.isDue || row.isUsed;
      }
    }
    const everyMs = this.#isInContact === false ? aloneMs : this.#paceMs;
    const isTime = nowMs >= this.#reportedMs + everyMs;
    if (isTime && (isDue || this.#isInContact === false)) this.#reportLater(0);
  }

  #reportLater(delayMs: number): void {
    if (this.#cancelReport !== undefined || this.#isReporting || this.#ended) return;
    this.#cancelReport = this.#options.clock.after(delayMs, () => {
      this.#cancelReport = undefined;
      void this.#report();
    });
  }

  /** One report at a time: the next one tells what became of the answer. */
  async #report(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    const report = this.#compose(nowMs);
    this.#isReporting = true;
    this.#reportedMs = nowMs;
    const reply = await this.#options.report(report);
    this.#isReporting = false;
    if (this.#ended) return;
    const since = this.#options.clock.monotonicMs();
    if (reply === undefined) this.#goOnAlone(since);
    else this.#take(reply, since);
    if (this.#isInContact === true && this.#isAnyUrgent()) this.#reportLater(this.#paceMs / urgentPerPace);
  }

  #compose(nowMs: number): LeaseReport {
    const elapsedMs = nowMs - this.#reportedMs;
    let left: number = leaseLimits.keys;
    const limits: LeaseReport['limits'][number][] = [];
    for (const { limit, rows } of this.#held.values()) {
      if (limits.length >= leaseLimits.limits || left === 0) break;
      const told = [...rows.values()].filter((row) => row.isDue || row.isUsed).slice(0, left);
      if (told.length === 0) continue;
      left -= told.length;
      const { id, requestsPerSecond, burst } = limit;
      limits.push({ id, requestsPerSecond, burst, keys: told.map((row) => row.line(nowMs, elapsedMs)) });
    }
    return { seq: ++this.#seq, limits };
  }

  #take({ paceMs, limits }: LeaseReply, nowMs: number): void {
    this.#isInContact = true;
    this.#paceMs = paceMs;
    for (const { id, keys } of limits) {
      const held = this.#held.get(id);
      if (held === undefined) continue;
      const settled: number[] = [];
      for (const grant of keys) {
        const row = held.byKey.get(grant.key);
        if (row === undefined) continue;
        settled.push(row.place);
        if (row.take(grant, nowMs)) this.#forget(held, row);
      }
      if (!held.isInForce && held.rows.size === 0) this.#held.delete(id);
      this.#options.onSettled(id, settled);
    }
  }

  #forget({ rows, byKey }: Held, { place, key }: LeaseRow): void {
    rows.delete(place);
    byKey.delete(key);
  }

  #goOnAlone(nowMs: number): void {
    this.#isInContact = false;
    for (const [id, { rows }] of this.#held) {
      for (const row of rows.values()) {
        row.alone(nowMs);
        row.isDue = true;
      }
      this.#options.onSettled(id, [...rows.keys()]);
    }
  }

  #isAnyUrgent(): boolean {
    for (const { rows } of this.#held.values()) for (const row of rows.values()) if (row.isUrgent) return true;
    return false;
  }
}

/** Way to a leader where there is none. */
export const noLeases: ReportLeases = () => Promise.resolve(undefined);
