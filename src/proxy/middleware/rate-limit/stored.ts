// Limits whose buckets are in a store that proxies share (contract.md §8.2). A request waits for the store a moment; where
// it does not answer, the limiter does as its failureMode says: count in the process, refuse, or let pass.
import { rateLimitDefaults } from '../../../model/defaults.ts';
import { limitIds, ratesOf } from '../../../model/limit-rates.ts';
import type { RateLimitFailureMode } from '../../../model/middleware/rate-limit-options.ts';
import type { Middleware } from '../../../model/middleware.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { MiddlewareExchange, MiddlewarePhases, MiddlewareResult } from '../../exchange/phase.ts';
import { type LimitStore, limitKey, type StoredBuckets, type StoredRate } from '../../redis/limit-store.ts';
import { rejection } from '../rejection.ts';
import type { Charge } from './charge.ts';
import type { BucketState } from './limit-fields.ts';

/** Limits of one limiter in the store. */
export interface StoredLimits {
  /** Undefined where none is configured. */
  readonly store: LimitStore | undefined;
  readonly limits: readonly (StoredRate & { readonly id: string })[];
}

/** Limits of that limiter in the store of a worker; without one its failureMode counts for each request. */
export function storedLimitsOf(limiter: Middleware, store: LimitStore | undefined, logger: Logger): StoredLimits {
  const { id: middleware, rateLimit = {} } = limiter;
  if (store === undefined) {
    const about = { middleware, failureMode: rateLimit.failureMode ?? rateLimitDefaults.failureMode };
    logger.warn(about, 'a rate limit has scope redis, and sessionStore is not set: its failureMode counts');
  }
  const ids = limitIds(limiter);
  const limits = ratesOf(rateLimit).map(({ requestsPerSecond, burst }, place) => ({
    id: ids[place] ?? '',
    intervalUs: 1_000_000 / requestsPerSecond,
    burst,
  }));
  return { store, limits };
}

/** Ends a request by the state of its buckets. */
export interface StoredOutcomes {
  pass(exchange: MiddlewareExchange, slot: number, cost: number, state: readonly BucketState[]): MiddlewareResult;
  refuse(exchange: MiddlewareExchange, slot: number, cost: number, state: readonly BucketState[]): MiddlewareResult;
  /** Counts the request in the process. */
  countHere(exchange: MiddlewareExchange, slot: number): MiddlewareResult;
}

export function storedRequest(
  charge: Charge,
  { store, limits }: StoredLimits,
  failureMode: RateLimitFailureMode,
  { pass, refuse, countHere }: StoredOutcomes,
): NonNullable<MiddlewarePhases['onRequest']> {
  const fail = (exchange: MiddlewareExchange, slot: number): MiddlewareResult => {
    exchange.tally(slot, 'rateLimitStore', 'failed', 1);
    if (failureMode === 'process') return countHere(exchange, slot);
    exchange.state[slot] = undefined;
    return failureMode === 'allow' ? undefined : rejection(503, 'rate limit store unavailable', ['Retry-After', '1']);
  };
  return (exchange, slot) => {
    if (store?.up !== true) return fail(exchange, slot);
    const cost = Math.min(Number.MAX_SAFE_INTEGER, charge.costOf(exchange));
    const name = charge.nameOf(exchange);
    const keys = limits.map(({ id }) => limitKey(id, name));
    // After the wait the exchange may be another one: it is used again for other requests.
    const turn = {};
    exchange.state[slot] = turn;
    return new Promise((resolve) => {
      store.take({ keys, limits, cost }, (buckets) => {
        if (exchange.state[slot] !== turn) return resolve(undefined);
        if (buckets === undefined) return resolve(fail(exchange, slot));
        exchange.tally(slot, 'rateLimitStore', 'answered', 1);
        const state = limits.map((limit, place) => stateOf(limit, buckets, place, cost));
        resolve((buckets.isTaken ? pass : refuse)(exchange, slot, cost, state));
      });
    });
  };
}

function stateOf({ intervalUs, burst }: StoredRate, buckets: StoredBuckets, place: number, cost: number): BucketState {
  const untilFullUs = buckets.untilFullUs[place] ?? 0;
  const lackingUs = untilFullUs + (cost - burst) * intervalUs;
  const waitUs = buckets.isTaken ? 0 : cost > burst ? Number.POSITIVE_INFINITY : Math.max(0, lackingUs);
  return {
    tokens: Math.max(0, Math.floor(burst - untilFullUs / intervalUs + tokenTolerance)),
    fullInMs: untilFullUs / 1000,
    waitMs: waitUs / 1000,
  };
}

/** Rounding must not hide a token. */
const tokenTolerance = 1e-6;
