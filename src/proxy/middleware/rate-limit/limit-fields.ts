// Fields RateLimit-Policy and RateLimit of a response (draft-ietf-httpapi-ratelimit-headers-10): lists of structured
// fields (RFC 9651), an item for each limit, named like `100/60s`.
import type { RateLimitWindow } from '../../../model/middleware/rate-limit-options.ts';
import { durationMs } from '../../parsed-duration.ts';
import type { BucketKey } from '../../shared/bucket-key.ts';
import type { Buckets } from '../../shared/buckets.ts';

/** State of one bucket. */
export interface BucketState {
  /** Whole tokens that are left. */
  readonly tokens: number;
  readonly fullInMs: number;
  /** Time until a refused request may pass: 0 for one that passes, Infinity where it never may. */
  readonly waitMs: number;
}

export class LimitFields {
  /** Value of RateLimit-Policy: `q` tokens in `w` seconds. */
  readonly policy: string;
  readonly #names: readonly string[];

  constructor(limits: readonly RateLimitWindow[]) {
    const seconds = limits.map(({ per }) => durationMs(per, 1000) / 1000);
    this.#names = limits.map(({ requests }, place) => `"${requests}/${seconds[place]}s"`);
    this.policy = limits
      .map(({ requests }, place) => `${this.#names[place]};q=${requests};w=${Math.ceil(seconds[place] ?? 1)}`)
      .join(', ');
  }

  /**
   * Returns the value of RateLimit: `r` whole tokens that are left, and `t` seconds until the bucket is full; in a limit
   * that lacks the `cost` of a refused request, until it has that.
   */
  stateOf(limits: readonly Buckets[], key: BucketKey, cost: number, nowMs: number): string {
    let text = '';
    for (const [place, buckets] of limits.entries()) {
      const wait = cost > 0 ? buckets.waitMs(key, cost, nowMs) : 0;
      const untilMs = isAwaited(wait) ? wait : buckets.fullInMs(key, nowMs);
      text += this.#item(place, buckets.tokens(key, nowMs), untilMs);
    }
    return text;
  }

  /** The same of buckets whose state is known. */
  textOf(state: readonly BucketState[]): string {
    return state
      .map(({ tokens, waitMs, fullInMs }, place) => this.#item(place, tokens, isAwaited(waitMs) ? waitMs : fullInMs))
      .join('');
  }

  #item(place: number, tokens: number, untilMs: number): string {
    return `${place > 0 ? ', ' : ''}${this.#names[place]};r=${tokens};t=${Math.ceil(untilMs / 1000)}`;
  }

  /** Names and values in turn. */
  lines(state: string): readonly string[] {
    return ['RateLimit-Policy', this.policy, 'RateLimit', state];
  }
}

/** Returns whether a refused request may pass after that time. */
const isAwaited = (waitMs: number): boolean => waitMs > 0 && Number.isFinite(waitMs);
