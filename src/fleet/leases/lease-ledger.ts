// Ledger of the leader: which proxy holds which part of which budget (fleet.md §8). Kept in memory. A new leader learns the
// parts from the reports of the proxies and moves nothing before the former one has surely stopped; budgets that are in
// no report begin empty, for the former leader may have given all of them away.
import type { LeaseGrant, LeaseLimit, LeaseReply, LeaseReport } from '../../model/answers/lease-answers.ts';
import type { BucketRate } from '../../model/limit-rates.ts';
import { Budget } from './budget.ts';
import type { LedgerCopy } from './ledger-copy.ts';

/** A leader that lost its cluster stops within twice the election timeout; reports of the proxies come within a second. */
const settleMs = 3_000;
/** The part of a proxy that is not heard stays its own for so long. */
const keptMs = 60_000;
/** The same of one whose stream has ended: one that lives is back after `proxy.reconnectInterval`, by default 5 s. */
export const endedMs = 7_000;
/** A report that was on its way as the stream ended says nothing of what came after. */
const onTheWayMs = 1_000;
/** A ledger with more budgets is not copied to the next leader: a copy is one message. */
const copiedMax = 10_000;
/** Budgets in memory; requests of further keys share one budget for each limit. */
const budgetsMax = 200_000;
const paceMsMin = 250;
const paceMsMax = 2_000;
/** Reports per second that the leader takes: with more proxies each sends fewer. */
const reportsPerSecond = 200;
const sweepEveryMs = 1_000;
const sweptAtOnce = 500;

interface Limit {
  readonly rate: BucketRate;
  readonly budgets: Map<string, Budget>;
  /** Shared by the keys that have no place; undefined until there are such. */
  overflow: Budget | undefined;
  /** A former leader may have granted parts of it. */
  readonly isFormer: boolean;
}

interface Holder {
  seq: number;
  heardMs: number;
  readonly budgets: Set<Budget>;
}

export class Ledger {
  readonly #limits = new Map<string, Limit>();
  readonly #holders = new Map<string, Holder>();
  #former: ReadonlySet<string> = new Set();
  /** The former leader has sent its ledger. */
  #isContinued = false;
  #beganMs = 0;
  #budgets = 0;
  #sweptMs = 0;
  #nowMs = 0;
  #sweeping: Generator<void> | undefined;
  readonly #budgetsMax: number;

  constructor(limit = budgetsMax) {
    this.#budgetsMax = limit;
  }

  /** Begins empty. @param former limits that were in force before: a former leader may have granted parts of them */
  begin(former: Iterable<string>, nowMs: number): void {
    this.#limits.clear();
    this.#holders.clear();
    this.#budgets = 0;
    this.#sweeping = undefined;
    this.#former = new Set(former);
    this.#isContinued = false;
    this.#beganMs = nowMs;
  }

  /** Copy for the next leader; undefined: there are too many budgets for one. */
  copy(nowMs: number): LedgerCopy | undefined {
    if (this.#budgets > copiedMax) return undefined;
    const limits = [...this.#limits].map(([id, { rate, budgets }]) => ({
      ...{ id, requestsPerSecond: rate.requestsPerSecond, burst: rate.burst },
      budgets: [...budgets].map(([key, budget]) => budget.copy(key, nowMs)),
    }));
    return { limits };
  }

  /** Goes on with the copy of the former leader, while nothing is moved yet: budgets that it lacks are whole. */
  continue({ limits }: LedgerCopy, nowMs: number): void {
    if (nowMs >= this.#beganMs + settleMs) return;
    this.#isContinued = true;
    for (const { budgets, ...sent } of limits) {
      const limit = this.#limitOf(sent);
      for (const copy of budgets) {
        const budget = this.#budgetOf(limit, copy.key, nowMs);
        budget.merge(copy, nowMs);
        for (const { holder } of copy.parts) this.#holderOf(holder, nowMs).budgets.add(budget);
      }
    }
  }

  /** Number of budgets that are held, and of proxies that hold some. */
  get size(): { readonly budgets: number; readonly holders: number } {
    return { budgets: this.#budgets, holders: this.#holders.size };
  }

  /** Undefined for a report that came late. @param holder names the process of the proxy */
  take(holder: string, { seq, limits }: LeaseReport, nowMs: number): LeaseReply | undefined {
    this.#sweep(nowMs);
    const held = this.#holderOf(holder, nowMs);
    if (seq <= held.seq) return undefined;
    held.seq = seq;
    held.heardMs = nowMs;
    const answers = limits.map((limit) => ({ id: limit.id, keys: this.#takeLimit(holder, held, limit, nowMs) }));
    return { paceMs: this.#paceMs(), limits: answers };
  }

  /** The stream of that process has ended: unless it was heard since, its parts go back. */
  ended(holder: string, nowMs: number): void {
    const held = this.#holders.get(holder);
    if (held === undefined || held.heardMs > nowMs - endedMs + onTheWayMs) return;
    for (const budget of held.budgets) budget.drop(holder, nowMs);
    this.#holders.delete(holder);
  }

  #holderOf(holder: string, nowMs: number): Holder {
    const known = this.#holders.get(holder);
    if (known !== undefined) return known;
    const held = { seq: -1, heardMs: nowMs, budgets: new Set<Budget>() };
    this.#holders.set(holder, held);
    return held;
  }

  #takeLimit(holder: string, held: Holder, sent: LeaseLimit, nowMs: number): LeaseGrant[] {
    const limit = this.#limitOf(sent);
    const settles = limit.isFormer && nowMs < this.#beganMs + settleMs;
    return sent.keys.map((line) => {
      const budget = this.#budgetOf(limit, line.key, nowMs);
      const isShared = budget === limit.overflow;
      const name = isShared ? `${holder} ${line.key}` : holder;
      if (!isShared) held.budgets.add(budget);
      const grant = settles ? budget.adopt(name, line, nowMs) : budget.take(name, line, nowMs);
      if (!budget.has(holder)) held.budgets.delete(budget);
      return grant;
    });
  }

  #limitOf({ id, requestsPerSecond, burst }: Omit<LeaseLimit, 'keys'>): Limit {
    const known = this.#limits.get(id);
    if (known !== undefined) return known;
    const limit = {
      rate: { requestsPerSecond, burst },
      budgets: new Map(),
      overflow: undefined,
      isFormer: this.#former.has(id),
    };
    this.#limits.set(id, limit);
    return limit;
  }

  #budgetOf(limit: Limit, key: string, nowMs: number): Budget {
    const known = limit.budgets.get(key);
    if (known !== undefined) return known;
    if (this.#budgets >= this.#budgetsMax) {
      limit.overflow ??= this.#newBudget(limit, nowMs);
      return limit.overflow;
    }
    const budget = this.#newBudget(limit, nowMs);
    limit.budgets.set(key, budget);
    this.#budgets++;
    return budget;
  }

  /** Budgets that a former leader may have granted begin empty, unless it has sent its ledger. */
  #newBudget({ rate, isFormer }: Limit, nowMs: number): Budget {
    if (!isFormer || this.#isContinued) return new Budget(rate, rate.burst, nowMs);
    const sinceMs = this.#beganMs + settleMs;
    const filled = ((nowMs - sinceMs) / 1000) * rate.requestsPerSecond;
    return new Budget(rate, Math.min(rate.burst, Math.max(0, filled)), Math.max(nowMs, sinceMs));
  }

  #paceMs(): number {
    return Math.min(paceMsMax, Math.max(paceMsMin, Math.round((this.#holders.size * 1000) / reportsPerSecond)));
  }

  /** Forgets what is not held any more: some budgets at each report, so that a full table holds the loop up for no report. */
  #sweep(nowMs: number): void {
    for (let step = 0; step < sweptAtOnce; step++) {
      if (this.#sweeping === undefined) {
        if (nowMs < this.#sweptMs + sweepEveryMs) return;
        this.#sweptMs = nowMs;
        this.#sweeping = this.#sweepAll();
      }
      this.#nowMs = nowMs;
      if (this.#sweeping.next().done === true) this.#sweeping = undefined;
    }
  }

  *#sweepAll(): Generator<void> {
    for (const [id, limit] of this.#limits) {
      for (const [key, budget] of limit.budgets) {
        this.#sweepBudget(budget);
        if (budget.isWhole(this.#nowMs)) {
          limit.budgets.delete(key);
          this.#budgets--;
        }
        yield;
      }
      limit.overflow?.dropSilent(this.#nowMs - keptMs, this.#nowMs);
      if (limit.overflow?.isWhole(this.#nowMs) === true) limit.overflow = undefined;
      if (limit.budgets.size === 0 && limit.overflow === undefined) this.#limits.delete(id);
      yield;
    }
    for (const [name, { heardMs }] of this.#holders) if (heardMs < this.#nowMs - keptMs) this.#holders.delete(name);
  }

  #sweepBudget(budget: Budget): void {
    for (const holder of budget.dropSilent(this.#nowMs - keptMs, this.#nowMs)) {
      this.#holders.get(holder)?.budgets.delete(budget);
    }
  }
}
