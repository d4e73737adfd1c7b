// One part of a budget that this process holds (fleet.md §8): main's side of a row of leased buckets.
import type { LeaseGrant, LeaseLine } from '../../model/answers/lease-answers.ts';
import type { LeasedLimit } from '../../model/limit-rates.ts';
import { type LeasedBuckets, rowStates } from '../shared/leased-buckets.ts';

/** A row that no request asks for is given back after so long. */
const idleMs = 1_000;
/** An answer that more may come soon counts for so long, then as none is left: others give back within it. */
const againMsMax = 1_250;
const dryMs = 100;

export class LeaseRow {
  readonly place: number;
  readonly key: string;
  /** A report about it is due. */
  isDue = true;
  /** The cluster waits for that report: a request lacks tokens, or a part was taken back. */
  isUrgent = false;
  readonly #limit: LeasedLimit;
  readonly #buckets: LeasedBuckets;
  #share = 0;
  #rest = 0;
  #back = 0;
  #want = 0;
  #rate = 0;
  #filledMs: number;
  #usedMs: number;
  #dryUntilMs = 0;
  #againSinceMs: number | undefined;
  /** Time of the last token that it got without a leader. */
  #aloneMs: number | undefined;
  #isClosing = false;

  constructor(place: number, key: string, limit: LeasedLimit, buckets: LeasedBuckets, nowMs: number) {
    this.place = place;
    this.key = key;
    this.#limit = limit;
    this.#buckets = buckets;
    this.#filledMs = nowMs;
    this.#usedMs = nowMs;
  }

  /** A request lacks so many tokens; 0: few are left. */
  ask(tokens: number, nowMs: number): void {
    this.#want = Math.max(this.#want, tokens);
    this.#usedMs = nowMs;
    this.isDue = true;
    this.isUrgent = true;
    this.#isClosing = false;
    this.#buckets.setState(this.place, rowStates.asked);
  }

  /** Fills it at the rate of its share, and lets workers ask again once it is time. */
  tick(nowMs: number): void {
    const { burst, requestsPerSecond } = this.#limit;
    const gain = (this.#share / burst) * (requestsPerSecond / 1000) * Math.max(0, nowMs - this.#filledMs);
    this.#filledMs = nowMs;
    if (gain > 0) this.#rest = this.#buckets.fill(this.place, this.#rest + gain, this.#cap);
    if (this.#buckets.state(this.place) !== rowStates.dry || nowMs < this.#dryUntilMs) return;
    this.#buckets.setState(this.place, rowStates.open);
  }

  /** Begins to give everything back where no request has come for a while. */
  giveBackIdle(nowMs: number): void {
    if (this.#isIdle(nowMs) && this.#buckets.close(this.place)) this.giveBack();
  }

  /**
   * Frees the row without the leader: no request has come for a while, no part is held, and a token that it got without
   * a leader is a window old. Returns whether it did.
   */
  freeIdle(nowMs: number): boolean {
    const isRecent = this.#aloneMs !== undefined && nowMs < this.#aloneMs + this.#limit.windowMs;
    if (this.#share > 0 || isRecent || !this.#isIdle(nowMs) || !this.#buckets.close(this.place)) return false;
    this.#buckets.free(this.place);
    return true;
  }

  /** Begins to give everything back. */
  giveBack(): void {
    this.#isClosing = true;
    this.#buckets.close(this.place);
    this.#back += this.#buckets.shrink(this.place, 0);
    this.#share = 0;
    this.#rest = 0;
    this.#want = 0;
    this.isDue = true;
  }

  /** Line of the next report; the row is not due any more. */
  line(nowMs: number, elapsedMs: number): LeaseLine {
    const used = this.#buckets.takeUsed(this.place);
    if (used > 0) this.#usedMs = nowMs;
    this.#rate = used / Math.max(1, elapsedMs);
    this.isDue = false;
    this.isUrgent = false;
    const level = this.#buckets.level(this.place);
    const isAsked = this.#buckets.state(this.place) === rowStates.asked;
    const ahead = isAsked ? Math.min(this.#limit.burst, Math.max(1, this.#rate * lookAheadMs)) : 0;
    const want = isAsked ? Math.max(this.#want, ahead) - level : 0;
    this.#want = isAsked ? this.#want : 0;
    return { key: this.key, share: this.#share, level, back: this.#back, want: Math.max(0, want), used };
  }

  /** True where requests took tokens that the leader has not heard of. */
  get isUsed(): boolean {
    return this.#buckets.isUsed(this.place);
  }

  /** Takes the leader's answer; true when the row is free now. */
  take({ share, grant, left, state, waitMs }: LeaseGrant, nowMs: number): boolean {
    if (this.#isClosing) {
      this.#buckets.free(this.place);
      return true;
    }
    if (state === 'settling') {
      this.alone(nowMs);
      return false;
    }
    this.tick(nowMs);
    if (share < this.#share) {
      this.#back += this.#buckets.shrink(this.place, this.#share > 0 ? share / this.#share : 0);
      this.isDue = true;
      this.isUrgent = true;
    }
    this.#share = share;
    this.#rest = this.#buckets.fill(this.place, this.#rest + grant, this.#cap);
    const level = this.#buckets.level(this.place);
    this.#buckets.note(this.place, state === 'dry' ? 0 : level / 2, left);
    this.#settle(level >= this.#want ? 'granted' : state, waitMs, nowMs);
    return false;
  }

  /** No leader answers: the row goes on with its share; one that has none gets a token in each window. */
  alone(nowMs: number): void {
    const { windowMs } = this.#limit;
    const isDue = this.#aloneMs === undefined || nowMs >= this.#aloneMs + windowMs;
    if (this.#share === 0 && isDue && this.#buckets.level(this.place) < 1) {
      this.#buckets.fill(this.place, 1, 1);
      this.#aloneMs = nowMs;
    }
    this.#settle(this.#buckets.level(this.place) >= this.#want ? 'granted' : 'dry', dryMs, nowMs);
  }

  #isIdle(nowMs: number): boolean {
    return !this.#isClosing && nowMs >= this.#usedMs + idleMs && !this.isUsed;
  }

  get #cap(): number {
    return Math.max(1, this.#share);
  }

  #settle(state: LeaseGrant['state'], waitMs: number, nowMs: number): void {
    if (state === 'again') {
      this.#againSinceMs ??= nowMs;
      if (nowMs < this.#againSinceMs + againMsMax) {
        this.isDue = true;
        this.isUrgent = true;
        return;
      }
    }
    this.#againSinceMs = undefined;
    this.#want = 0;
    if (state === 'granted') {
      this.#buckets.setState(this.place, rowStates.open);
      return;
    }
    this.#dryUntilMs = nowMs + (state === 'dry' ? waitMs : dryMs);
    this.#buckets.setState(this.place, rowStates.dry);
  }
}

/** Tokens for so long are asked for ahead. */
const lookAheadMs = 500;
