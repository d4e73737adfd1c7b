// Retry policy of an entry with its defaults: which outcomes are retried, and after how long (contract.md §2.4.3,
// §7.4).
import { retryDefaults } from '../../model/defaults.ts';
import { parseDuration } from '../../model/duration.ts';
import type { Retry } from '../../model/retry.ts';
import type { ResponseHead } from '../message/response.ts';

export interface RetryPlan {
  /** Retries after the first attempt, at least 1. */
  readonly attempts: number;
  /** Milliseconds, 0 = none. */
  readonly perAttemptMs: number;
  /** True when attempts without a response are retried. */
  readonly onConnectionFailure: boolean;
  /** 1 for each status that is retried. */
  readonly statuses: Uint8Array;
  /** Values of `grpc-status` in the head of a response that are retried. */
  readonly grpcStatuses: ReadonlySet<string>;
  readonly backoffBaseMs: number;
  readonly backoffMaxMs: number;
  /** Percentage of the requests in flight to a destination that may be retries. */
  readonly budgetPercent: number;
}

/**
 * Returns the route's policy if it has one, even one without attempts, otherwise the group's; undefined when nothing
 * is retried.
 */
export function retryPlan(ofRoute: Retry | undefined, ofGroup: Retry | undefined): RetryPlan | undefined {
  const retry = ofRoute ?? ofGroup;
  const attempts = retry?.attempts ?? retryDefaults.attempts;
  if (!retry || attempts === 0) return undefined;
  const { backoff, perAttemptTimeout, budgetPercent } = retry;
  const on = new Set<string>(retry.on ?? retryDefaults.on);
  const byCode = on.has('retriable-codes');
  const statuses = new Uint8Array(1_000);
  if (on.has('server-error')) statuses.fill(1, 500);
  if (on.has('gateway-error')) statuses.fill(1, 502, 505);
  if (byCode) for (const code of retry.retriableCodes ?? retryDefaults.retriableCodes) statuses[code] = 1;
  const grpcNames = byCode ? (retry.grpcCodes ?? retryDefaults.grpcCodes) : [];
  return {
    attempts,
    perAttemptMs: milliseconds(perAttemptTimeout, '0'),
    onConnectionFailure: on.has('connection-failure'),
    statuses,
    grpcStatuses: new Set(grpcNames.map((name) => grpcNumbers[name])),
    backoffBaseMs: milliseconds(backoff?.base, retryDefaults.backoff.base),
    backoffMaxMs: milliseconds(backoff?.max, retryDefaults.backoff.max),
    budgetPercent: budgetPercent ?? retryDefaults.budgetPercent,
  };
}

const grpcNumbers = {
  cancelled: '1',
  'deadline-exceeded': '4',
  'resource-exhausted': '8',
  internal: '13',
  unavailable: '14',
} as const;

/**
 * Returns whether a response is retried. A gRPC response of trailers only has its status in its head (protocols.md
 * §4).
 */
export function isWorthRetrying({ statuses, grpcStatuses }: RetryPlan, { status, lines }: ResponseHead): boolean {
  if (statuses[status] === 1) return true;
  return grpcStatuses.size > 0 && grpcStatuses.has(lines.first('grpc-status') ?? '');
}

/**
 * Returns the milliseconds before retry `n`, counted from 1: in the upper half of a span that doubles up to `maxMs`.
 */
export function backoffMs(n: number, baseMs: number, maxMs: number, random: () => number): number {
  const span = Math.min(baseMs * 2 ** (n - 1), maxMs);
  return span / 2 + (random() * span) / 2;
}

/** Returns the default for a duration that the API would not accept, in a foreign snapshot (contract.md §0.3). */
const milliseconds = (text: string | undefined, standard: string): number =>
  (text === undefined ? undefined : parseDuration(text)) ?? parseDuration(standard) ?? 0;
