// Middleware type rateLimit (contract.md §8.2): buckets of tokens per client address or per text of an expression, one
// set for all routes and workers that share the middleware.
import { rateLimitDefaults } from '../../model/defaults.ts';
import type { RateLimitConfig } from '../../model/middleware/rate-limit-options.ts';
import type { LocalReply, MiddlewareExchange, MiddlewarePhases, MiddlewareResult } from '../exchange/phase.ts';
import { allValues } from '../fields/field-lines.ts';
import { TrustedProxies } from '../message/client-address.ts';
import { addressKey } from '../shared/bucket-key.ts';
import type { TokenBuckets } from '../shared/token-buckets.ts';
import { type Charge, compileCharge } from './rate-limit/charge.ts';
import { type LeasedLimits, leasedRequest, type Outcomes } from './rate-limit/leased.ts';
import { LimitFields } from './rate-limit/limit-fields.ts';
import { takeFromAll, waitForAll } from './rate-limit/limits.ts';
import { type StoredLimits, type StoredOutcomes, storedRequest } from './rate-limit/stored.ts';
import { rejection } from './rejection.ts';

/** The same of limits that the whole cluster shares. */
export type LeasedRateLimiter = (limits: LeasedLimits, nowMs: () => number) => MiddlewarePhases;

/** `nowMs` counts alike in every thread of the process; a set of buckets for each limit. */
export type RateLimiter = (buckets: readonly TokenBuckets[], nowMs: () => number) => MiddlewarePhases;

export function buildRateLimit(config: RateLimitConfig): RateLimiter {
  const clientOf = compileClient(config.trustedProxies ?? []);
  if (config.key === undefined && config.cost === undefined && config.limits === undefined) return plain(clientOf);
  const charge = compileCharge(config, clientOf);
  return charged(charge, config.limits === undefined ? undefined : new LimitFields(config.limits));
}

export function buildLeasedRateLimit(config: RateLimitConfig): LeasedRateLimiter {
  const charge = compileCharge(config, compileClient(config.trustedProxies ?? []));
  const fields = config.limits === undefined ? undefined : new LimitFields(config.limits);
  return (limits, nowMs) => {
    const { buckets } = limits;
    const outcomes: Outcomes = {
      pass(exchange, slot, { key, cost, nowMs: now }) {
        exchange.tally(slot, 'rateLimitTokens', 'taken', cost);
        exchange.state[slot] = fields?.stateOf(buckets, key, 0, now);
        return undefined;
      },
      refuse(exchange, slot, { key, cost, nowMs: now }, waitMs) {
        exchange.tally(slot, 'rateLimitTokens', 'refused', cost);
        return refusal(waitMs, fields === undefined ? [] : fields.lines(fields.stateOf(buckets, key, cost, now)));
      },
    };
    return {
      needsBody: charge.needsBody,
      onRequest: leasedRequest(charge, limits, outcomes, nowMs),
      ...(fields !== undefined && { onResponse: tellLimits(fields) }),
    };
  };
}

/** `buckets` are those of the process, for when the store does not answer. */
export type StoredRateLimiter = (
  limits: StoredLimits,
  buckets: readonly TokenBuckets[],
  nowMs: () => number,
) => MiddlewarePhases;

export function buildStoredRateLimit(config: RateLimitConfig): StoredRateLimiter {
  const charge = compileCharge(config, compileClient(config.trustedProxies ?? []));
  const fields = config.limits === undefined ? undefined : new LimitFields(config.limits);
  const { failureMode = rateLimitDefaults.failureMode } = config;
  return (limits, buckets, nowMs) => {
    const { onRequest: countHere = () => undefined } = charged(charge, fields)(buckets, nowMs);
    const outcomes: StoredOutcomes = {
      pass(exchange, slot, cost, state) {
        exchange.tally(slot, 'rateLimitTokens', 'taken', cost);
        exchange.state[slot] = fields?.textOf(state);
        return undefined;
      },
      refuse(exchange, slot, cost, state) {
        exchange.tally(slot, 'rateLimitTokens', 'refused', cost);
        const waitMs = Math.max(1, ...state.map((each) => each.waitMs));
        return refusal(waitMs, fields === undefined ? [] : fields.lines(fields.textOf(state)));
      },
      countHere: (exchange, slot) => countHere(exchange, slot) as MiddlewareResult,
    };
    return {
      needsBody: charge.needsBody,
      onRequest: storedRequest(charge, limits, failureMode, outcomes),
      ...(fields !== undefined && { onResponse: tellLimits(fields) }),
    };
  };
}

/** One token from one bucket per address. */
const plain =
  (clientOf: ClientOf): RateLimiter =>
  ([buckets], nowMs) => ({
    onRequest(exchange, slot) {
      const waitMs = buckets?.take(addressKey(clientOf(exchange)), nowMs()) ?? 0;
      exchange.tally(slot, 'rateLimitTokens', waitMs === 0 ? 'taken' : 'refused', 1);
      return waitMs === 0 ? undefined : refusal(waitMs);
    },
  });

/** With `fields`, every response tells the limits. */
const charged =
  (charge: Charge, fields: LimitFields | undefined): RateLimiter =>
  (limits, nowMs) => ({
    needsBody: charge.needsBody,
    onRequest(exchange, slot) {
      const now = nowMs();
      const cost = charge.costOf(exchange);
      const key = charge.keyOf(exchange, limits);
      const isTaken = takeFromAll(limits, key, cost, now);
      exchange.tally(slot, 'rateLimitTokens', isTaken ? 'taken' : 'refused', cost);
      const waitMs = isTaken ? 0 : waitForAll(limits, key, cost, now);
      const state = fields?.stateOf(limits, key, isTaken ? 0 : cost, now);
      if (isTaken) {
        exchange.state[slot] = state;
        return undefined;
      }
      return refusal(waitMs, fields === undefined ? [] : fields.lines(state ?? ''));
    },
    ...(fields !== undefined && { onResponse: tellLimits(fields) }),
  });

const tellLimits =
  (fields: LimitFields): NonNullable<MiddlewarePhases['onResponse']> =>
  ({ state, response: { edits } }, slot) => {
    edits.append('RateLimit-Policy', fields.policy);
    // Unknown where a store did not answer and the request passed.
    if (state[slot] !== undefined) edits.append('RateLimit', String(state[slot]));
    return undefined;
  };

/** Without Retry-After where no time is enough: the request costs more than a bucket holds. */
const refusal = (waitMs: number, more: readonly string[] = []): LocalReply => {
  const after = Number.isFinite(waitMs) ? ['Retry-After', String(Math.max(1, Math.ceil(waitMs / 1000)))] : [];
  return rejection(429, 'rate limit exceeded', [...after, ...more]);
};

/** Returns the address of the client as text. */
type ClientOf = (exchange: MiddlewareExchange) => string;

/**
 * Compiles the client's address. Without a list of its own a limiter counts by the same address as the rest of the
 * proxy (architecture.md §6.9, §6.28).
 */
function compileClient(trustedProxies: readonly string[]): ClientOf {
  if (trustedProxies.length === 0) return ({ request }) => request.clientIp;
  const trusted = new TrustedProxies(trustedProxies);
  return ({ request }) => {
    const forwardedFor = allValues(request.lines, 'x-forwarded-for').join(',');
    return trusted.locate(request.sender().peerIp, forwardedFor).clientIp;
  };
}
