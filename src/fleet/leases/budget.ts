// One budget of the cluster at its leader (fleet.md §8): the tokens of one key of one limit, split into parts. The leader
// has one part, each proxy that asks has another; parts of burst, rate and tokens are moved and never made, so all
// together let pass no more than one bucket of that size does. A part that is taken back counts as held until the proxy
// has confirmed it.
import type { LeaseGrant, LeaseLine } from '../../model/answers/lease-answers.ts';
import type { BucketRate } from '../../model/limit-rates.ts';
import type { BudgetCopy } from './ledger-copy.ts';

interface Part {
  share: number;
  level: number;
  /** Total that the proxy has given back so far. */
  back: number;
  /** Tokens per second that its requests ask for, smoothed. */
  demand: number;
  heardMs: number;
  /** Lacks tokens until then. */
  lacksUntilMs: number;
}

/** Time constant of the demand. */
const demandMs = 1_000;
/** A proxy whose wish was not met lacks tokens for so long. */
const lackMs = 1_000;
const waitMsMin = 50;
const waitMsMax = 1_000;
/** A lack of share that is this part of the due is left as it is. */
const tolerated = 0.1;
/** Tokens for a longer time than this are not needed where they are. */
const unusedSeconds = 1;
/** Tokens below this are rounding. */
const dust = 1e-9;

export class Budget {
  readonly #rate: BucketRate;
  readonly #parts = new Map<string, Part>();
  /** Share of the leader; below zero while proxies hold more than there is. */
  #free: number;
  #pool: number;
  #pooledMs: number;

  /** @param pool tokens that the leader begins with; they become more from `fromMs` on */
  constructor(rate: BucketRate, pool: number, fromMs: number) {
    this.#rate = rate;
    this.#free = rate.burst;
    this.#pool = pool;
    this.#pooledMs = fromMs;
  }

  /** Nothing is held, and the leader has all tokens: a new budget would be the same. */
  isWhole(nowMs: number): boolean {
    this.#refill(nowMs);
    return this.#parts.size === 0 && this.#pool >= this.#rate.burst - dust;
  }

  has(holder: string): boolean {
    return this.#parts.has(holder);
  }

  /** Takes what a proxy says it holds, and answers with what it holds from now on. */
  take(holder: string, line: LeaseLine, nowMs: number): LeaseGrant {
    this.#refill(nowMs);
    const part = this.#confirm(holder, line, nowMs);
    if (line.share <= 0 && line.want <= 0) {
      this.drop(holder, nowMs);
      return { key: line.key, share: 0, grant: 0, left: 0, state: 'granted', waitMs: 0 };
    }
    const due = this.#dueOf(part, nowMs);
    const owed = this.#owedToOthers(part, nowMs);
    if (owed > 0 && line.share > due + dust) {
      part.lacksUntilMs = line.want > 0 ? nowMs + lackMs : 0;
      const share = Math.max(due, line.share - owed);
      return this.#grant(part, line.key, share, 0, line.want > 0 ? 'dry' : 'granted');
    }
    if (line.want <= 0) return this.#grant(part, line.key, line.share, 0, 'granted');
    return this.#give(part, line, due, owed > 0, nowMs);
  }

  /** Takes what a proxy says it holds, and moves nothing. */
  adopt(holder: string, line: LeaseLine, nowMs: number): LeaseGrant {
    this.#refill(nowMs);
    return this.#grant(this.#confirm(holder, line, nowMs), line.key, line.share, 0, 'settling');
  }

  copy(key: string, nowMs: number): BudgetCopy {
    this.#refill(nowMs);
    const parts = [...this.#parts].map(([holder, { share, level, back }]) => ({ holder, share, level, back }));
    return { key, pool: this.#pool, parts };
  }

  /** Takes the copy of a former leader. Parts that proxies have reported since are known better. */
  merge({ pool, parts }: BudgetCopy, nowMs: number): void {
    for (const { holder, share, level, back } of parts) {
      if (this.#parts.has(holder)) continue;
      this.#parts.set(holder, { share, level, back, demand: 0, heardMs: nowMs, lacksUntilMs: 0 });
      this.#free -= share;
    }
    this.#pool = Math.max(0, Math.min(this.#free, pool));
  }

  /** The proxy is gone: its part is the leader's, the tokens in it count as spent. */
  drop(holder: string, nowMs: number): void {
    this.#refill(nowMs);
    const part = this.#parts.get(holder);
    if (part === undefined) return;
    this.#free += part.share;
    this.#parts.delete(holder);
  }

  /** Drops proxies that were not heard since then; returns their names. */
  dropSilent(sinceMs: number, nowMs: number): readonly string[] {
    const silent = [...this.#parts].filter(([, { heardMs }]) => heardMs < sinceMs).map(([holder]) => holder);
    for (const holder of silent) this.drop(holder, nowMs);
    return silent;
  }

  #confirm(holder: string, { share, level, back, want, used }: LeaseLine, nowMs: number): Part {
    const known = this.#parts.get(holder);
    const part = known ?? { share: 0, level: 0, back, demand: 0, heardMs: nowMs - demandMs, lacksUntilMs: 0 };
    this.#parts.set(holder, part);
    this.#free += part.share - share;
    this.#pool = Math.max(0, Math.min(this.#free, this.#pool + Math.max(0, back - part.back)));
    const elapsedMs = Math.max(1, nowMs - part.heardMs);
    const kept = Math.exp(-elapsedMs / demandMs);
    part.demand = part.demand * kept + ((used > 0 ? used : want) / elapsedMs) * 1000 * (1 - kept);
    Object.assign(part, { share, level, back, heardMs: nowMs });
    return part;
  }

  #give(part: Part, line: LeaseLine, due: number, othersLack: boolean, nowMs: number): LeaseGrant {
    // A proxy alone comes by all within some reports; what is left until then is at hand for others.
    const wished = Math.max(2 * line.want, line.share);
    const more = Math.max(0, Math.min(this.#free, othersLack ? Math.min(wished, due - line.share) : wished));
    const room = Math.max(0, line.share + more - line.level);
    const spare = this.#pool - (this.#free - more);
    const grant = Math.max(0, Math.min(this.#pool, room, Math.max(2 * line.want, spare)));
    this.#free -= more;
    this.#pool = Math.max(0, Math.min(this.#free, this.#pool - grant));
    part.share += more;
    part.level += grant;
    const isMet = grant + dust >= line.want;
    part.lacksUntilMs = isMet ? 0 : nowMs + lackMs;
    if (isMet || grant > dust) return this.#grant(part, line.key, part.share, grant, 'granted');
    const isOwed = !isAtDue(part, due) && this.#elsewhere(part) >= Math.min(1, line.want);
    const state = isOwed || this.#isUnusedElsewhere(part, nowMs) ? 'again' : 'dry';
    return this.#grant(part, line.key, part.share, grant, state, this.#waitMs());
  }

  #grant(
    part: Part,
    key: string,
    share: number,
    grant: number,
    state: LeaseGrant['state'],
    waitMs: number = waitMsMin,
  ): LeaseGrant {
    return { key, share, grant, left: this.#pool + this.#elsewhere(part), state, waitMs };
  }

  /** Tokens that other proxies had in hand when they were heard last. */
  #elsewhere(own: Part): number {
    let sum = 0;
    for (const part of this.#parts.values()) if (part !== own) sum += part.level;
    return sum;
  }

  /** Another proxy holds tokens that its requests do not ask for: it gives them back soon. */
  #isUnusedElsewhere(own: Part, nowMs: number): boolean {
    for (const part of this.#parts.values()) {
      if (part !== own && part.level >= 1 && part.level > demandOf(part, nowMs) * unusedSeconds) return true;
    }
    return false;
  }

  /** Time until the leader has a token. */
  #waitMs(): number {
    const perMs = (Math.max(0, this.#free) / this.#rate.burst) * (this.#rate.requestsPerSecond / 1000);
    const lacking = Math.max(0, Math.min(1, this.#rate.burst) - this.#pool);
    return Math.round(Math.min(waitMsMax, Math.max(waitMsMin, perMs > 0 ? lacking / perMs : waitMsMax / 4)));
  }

  /** Share by demand, of all that there is. */
  #dueOf(own: Part, nowMs: number): number {
    const sum = this.#demand(nowMs);
    return sum > 0 ? (this.#rate.burst * own.demand) / sum : this.#rate.burst / this.#parts.size;
  }

  #demand(nowMs: number): number {
    let sum = 0;
    for (const part of this.#parts.values()) sum += demandOf(part, nowMs);
    return sum;
  }

  /** Share that proxies which lack tokens have less than their due; 0 where it is little beside that. */
  #owedToOthers(own: Part, nowMs: number): number {
    const sum = this.#demand(nowMs);
    let due = 0;
    let owed = 0;
    for (const part of this.#parts.values()) {
      if (part === own || part.lacksUntilMs <= nowMs || sum === 0) continue;
      const each = (this.#rate.burst * demandOf(part, nowMs)) / sum;
      due += each;
      owed += Math.max(0, each - part.share);
    }
    return owed > due * tolerated + dust ? owed : 0;
  }

  #refill(nowMs: number): void {
    const free = Math.max(0, this.#free);
    const elapsed = Math.max(0, nowMs - this.#pooledMs);
    const gain = (free / this.#rate.burst) * (this.#rate.requestsPerSecond / 1000) * elapsed;
    this.#pool = Math.max(0, Math.min(free, this.#pool + gain));
    this.#pooledMs = Math.max(nowMs, this.#pooledMs);
  }
}

const demandOf = ({ demand, heardMs }: Part, nowMs: number): number =>
  demand * Math.exp(-Math.max(0, nowMs - heardMs) / demandMs);

const isAtDue = (part: Part, due: number): boolean => part.share >= due - dust && part.share > dust;
