// Retry policy of an entry with its defaults (contract.md §2.4.3, §7.4).
import { retryDefaults } from '../../model/defaults.ts';
import { parseDuration } from '../../model/duration.ts';
import type { Retry } from '../../model/retry.ts';

export interface RetryPlan {
  /** Retries after the first try, at least 1. */
  readonly attempts: number;
  /** Milliseconds, 0 = none. */
  readonly perAttemptMs: number;
  readonly on: ReadonlySet<string>;
  readonly retriableCodes: ReadonlySet<number>;
  readonly backoffBaseMs: number;
  readonly backoffMaxMs: number;
}

/** The route's policy if it has one, even one without attempts, else the group's; undefined when nothing is retried. */
export function retryPlan(ofRoute: Retry | undefined, ofGroup: Retry | undefined): RetryPlan | undefined {
  const retry = ofRoute ?? ofGroup;
  const attempts = retry?.attempts ?? retryDefaults.attempts;
  if (!retry || attempts === 0) return undefined;
  const { on = retryDefaults.on, retriableCodes = retryDefaults.retriableCodes, backoff, perAttemptTimeout } = retry;
  return {
    attempts,
    perAttemptMs: milliseconds(perAttemptTimeout, '0'),
    on: new Set(on),
    retriableCodes: new Set(retriableCodes),
    backoffBaseMs: milliseconds(backoff?.base, retryDefaults.backoff.base),
    backoffMaxMs: milliseconds(backoff?.max, retryDefaults.backoff.max),
  };
}

/** A duration that the API would not admit, met in a foreign snapshot, is the default (contract.md §0.3). */
const milliseconds = (text: string | undefined, standard: string): number =>
  (text === undefined ? undefined : parseDuration(text)) ?? parseDuration(standard) ?? 0;
