// Replies about leases (fleet.md §8), read as they arrive: tokens that a leader grants a proxy.
import type { LeaseGrant, LeaseReply, LeaseReport } from './answers/lease-answers.ts';
import { isObject } from './json-object.ts';
import { grantStates } from './lease-limits.ts';

/** Returns the answer of a leader; undefined for what is none. */
export function leaseReplyOf(value: unknown): LeaseReply | undefined {
  if (!isObject(value) || !isAmount(value.paceMs) || !Array.isArray(value.limits)) return undefined;
  return value.limits.every(isLimit) ? { paceMs: value.paceMs, limits: value.limits } : undefined;
}

const isLimit = (value: unknown): value is LeaseReply['limits'][number] =>
  isObject(value) && typeof value.id === 'string' && Array.isArray(value.keys) && value.keys.every(isGrant);

const isGrant = (value: unknown): value is LeaseGrant =>
  isObject(value) &&
  typeof value.key === 'string' &&
  [value.share, value.grant, value.left, value.waitMs].every(isAmount) &&
  grantStates.some((state) => state === value.state);

export const isAmount = (value: unknown): value is number => typeof value === 'number' && value >= 0;

/** Sends a report; undefined where no leader answers in time. Never rejects. */
export type ReportLeases = (report: LeaseReport) => Promise<LeaseReply | undefined>;
