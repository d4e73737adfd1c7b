// Limits that the whole cluster shares: a request takes tokens that this process holds of them, and waits for the leader
// only where it holds too few and more may be had (contract.md §8.2).
import type { MiddlewareExchange, MiddlewarePhases, MiddlewareResult } from '../../exchange/phase.ts';
import type { BucketKey } from '../../shared/bucket-key.ts';
import type { LeasedBuckets } from '../../shared/leased-buckets.ts';
import type { Charge } from './charge.ts';
import { takeFromAll, waitForAll } from './limits.ts';

/** Leased buckets of each limit of one limiter. */
export interface LeasedLimits {
  readonly buckets: readonly LeasedBuckets[];
  /** Resolves when there is news of that row of the limit at that place. */
  wait(place: number, row: number): Promise<void>;
}

/** Result of a look at the limits: tokens of that row of the limit at that place are on their way. */
interface Awaited {
  readonly place: number;
  readonly row: number;
}

/** A request waits no longer for tokens. */
const waitMsMax = 1_500;

/** Buckets and tokens of one request, at the moment of its end. */
interface Charged {
  readonly key: BucketKey;
  readonly cost: number;
  readonly nowMs: number;
}

/** Ends a request: lets it pass, or refuses it for so many milliseconds. */
export interface Outcomes {
  pass(exchange: MiddlewareExchange, slot: number, charged: Charged): MiddlewareResult;
  refuse(exchange: MiddlewareExchange, slot: number, charged: Charged, waitMs: number): MiddlewareResult;
}

export function leasedRequest(
  charge: Charge,
  { buckets, wait }: LeasedLimits,
  { pass, refuse }: Outcomes,
  nowMs: () => number,
): NonNullable<MiddlewarePhases['onRequest']> {
  const look = (exchange: MiddlewareExchange, slot: number, isLast: boolean, isForced: boolean) => {
    const now = nowMs();
    const cost = charge.costOf(exchange);
    const key = charge.keyOf(exchange, buckets);
    if (takeFromAll(buckets, key, cost, now)) return pass(exchange, slot, { key, cost, nowMs: now });
    const awaited = isLast ? undefined : wishFromAll(buckets, key, cost, () => charge.nameOf(exchange), isForced);
    if (awaited !== undefined) return awaited;
    // Tokens may have come since the first look.
    if (takeFromAll(buckets, key, cost, now)) return pass(exchange, slot, { key, cost, nowMs: now });
    for (const each of buckets) each.refuse(key, cost);
    return refuse(exchange, slot, { key, cost, nowMs: now }, waitForAll(buckets, key, cost, now));
  };
  const settle = async (exchange: MiddlewareExchange, slot: number, first: Awaited): Promise<MiddlewareResult> => {
    const startedMs = nowMs();
    // After each wait the exchange may be another one: it is used again for other requests.
    const turn = {};
    exchange.state[slot] = turn;
    for (let awaited = first; ; ) {
      const askedMs = nowMs();
      await wait(awaited.place, awaited.row);
      if (exchange.state[slot] !== turn) return undefined;
      const now = nowMs();
      const result = look(exchange, slot, now - startedMs >= waitMsMax, now - askedMs >= lostMs);
      if (!isAwaited(result)) return result;
      awaited = result;
    }
  };
  return (exchange, slot) => {
    const result = look(exchange, slot, false, false);
    return isAwaited(result) ? settle(exchange, slot, result) : result;
  };
}

/** Without an answer for so long a question counts as lost. */
const lostMs = 400;

/** Undefined: one of the limits has nothing more to give. */
function wishFromAll(
  limits: readonly LeasedBuckets[],
  key: BucketKey,
  cost: number,
  nameOf: () => string,
  isForced: boolean,
): Awaited | undefined {
  const { high, low } = key;
  const kept = { high, low };
  const name = nameOf();
  let awaited: Awaited | undefined;
  for (const [place, buckets] of limits.entries()) {
    if (buckets.waitMs(kept, cost, 0) === 0) continue;
    const row = buckets.wish(kept, cost, name, isForced);
    if (row < 0) return undefined;
    awaited ??= { place, row };
  }
  return awaited;
}

const isAwaited = (result: MiddlewareResult | Awaited): result is Awaited => result !== undefined && 'row' in result;
