// Buckets of rate limits in a store beyond one proxy (contract.md §8.2): one script looks at all limits of a request and
// takes from each or from none. Time is that of the store, so that proxies whose clocks differ fill a bucket alike.
import { createHash } from 'node:crypto';

/** One bucket that a request takes from. */
export interface StoredRate {
  /** Microseconds in which one token comes back. */
  readonly intervalUs: number;
  /** Tokens in a full bucket. */
  readonly burst: number;
}

/** Charge of one request: a key of the store for each limit. */
export interface StoredTake {
  readonly keys: readonly string[];
  readonly limits: readonly StoredRate[];
  readonly cost: number;
}

/** Buckets after a request: whether it took its tokens, and the microseconds until each bucket is full. */
export interface StoredBuckets {
  readonly isTaken: boolean;
  readonly untilFullUs: readonly number[];
}

export interface LimitStore {
  /** True when the store can be asked. */
  readonly up: boolean;
  /** Answers once, perhaps synchronously: undefined when the store does not answer in time or at all. */
  take(charge: StoredTake, answer: (buckets: StoredBuckets | undefined) => void): void;
}

/** Keys of one request have one hash slot, and lie apart from those of sticky sessions. */
export const limitKey = (limit: string, name: string): string => `sluice:limit:{${name}}:${limit}`;

/**
 * A bucket is one number, the time at which it is full if nothing more is taken, in microseconds since 2025: the numbers of
 * Lua are exact to a fraction of one for a century. KEYS: buckets. ARGV: cost, then interval and burst of each. A key goes
 * once its bucket is full, for a full bucket is the same as none. Needs Redis 5 or later.
 */
export const takeScript = `
local time = redis.call('TIME')
local now = (tonumber(time[1]) - 1735689600) * 1000000 + tonumber(time[2])
local cost = tonumber(ARGV[1])
local taken = 1
local full = {}
for i, key in ipairs(KEYS) do
  local interval = tonumber(ARGV[2 * i])
  local known = redis.call('GET', key)
  full[i] = math.max(now, known and tonumber(known) or 0)
  if full[i] - now + cost * interval > tonumber(ARGV[2 * i + 1]) * interval + 1 then taken = 0 end
end
local left = { taken }
for i, key in ipairs(KEYS) do
  if taken == 1 and cost > 0 then
    full[i] = full[i] + cost * tonumber(ARGV[2 * i])
    redis.call('SET', key, string.format('%.3f', full[i]), 'PX', math.max(1, math.min(1e14, math.ceil((full[i] - now) / 1000))))
  end
  left[i + 1] = string.format('%.3f', full[i] - now)
end
return left
`;

export const takeScriptSha = createHash('sha1').update(takeScript).digest('hex');

/** Undefined for an answer that is none of the script's. */
export function storedBucketsOf(answer: unknown): StoredBuckets | undefined {
  if (!Array.isArray(answer)) return undefined;
  const [taken, ...untilFullUs] = answer.map(Number);
  return untilFullUs.some(Number.isNaN) ? undefined : { isTaken: taken === 1, untilFullUs };
}
